//! Address pattern `uniform`: all addresses are equally likely.

use super::{AddressPattern, DrawPlaces, Problems, Room};
use crate::Request;
use flashraid_model::rng::{self, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All addresses are equally likely.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {}

impl AddressPattern for Uniform {
    fn problems(&self, _room: &Room, _problems: &mut Problems) {}

    fn draw(&self, room: &Room, _seed: u64) -> Box<dyn DrawPlaces> {
        Box::new(Below(room.places()))
    }

    fn random_for_tests(_stream: &mut RandomStream) -> Self {
        Self {}
    }
}

struct Below(u64);

impl DrawPlaces for Below {
    fn draw(&self, stream: &mut RandomStream, batch: &mut [Request]) {
        batch.iter_mut().for_each(|request| request.offset_bytes = rng::below(stream, self.0));
    }
}
