//! Traces, in and out.

use std::path::PathBuf;
use std::sync::Arc;

use flashraid::workload::trace::write::{WRITABLE_FORMATS, write_trace_records};
use flashraid::workload::trace::{DevicePlacement, Format, TraceRecord, TraceSortMethod, TraceSpec, open_stoppable_trace};
use flashraid::workload::{SourceError, Stop};
use pyo3::prelude::*;

use crate::columns::Requests;
use crate::error::{of_trace, refused_at};
use crate::table::{Names, Table, numbers_u32, numbers_u64};
use crate::wait::{Watch, interruptible};

fn spec(py: Python<'_>, path: PathBuf, format: Option<&str>, devices: Option<Vec<u32>>) -> PyResult<TraceSpec> {
    let parse =
        |name: &str| name.parse().map_err(|_| refused_at(py, "format", &format!("{name:?}"), &format!("one of {}", Format::names()), None));
    let format = format.map(parse).transpose()?;
    let devices = devices.map_or(DevicePlacement::Fold, DevicePlacement::List);
    Ok(TraceSpec { format, devices, reorder: TraceSortMethod::default(), ..TraceSpec::new(path) })
}

/// The requests of a trace as columns.
#[pyfunction]
#[pyo3(signature = (path, *, format, devices, limit))]
pub fn read_trace(
    py: Python<'_>,
    path: PathBuf,
    format: Option<&str>,
    devices: Option<Vec<u32>>,
    limit: Option<usize>,
) -> PyResult<(Option<Table>, Option<PyErr>)> {
    let spec = spec(py, path, format, devices)?;
    let watch = Arc::new(Watch::default());
    let stop = watch.asked();
    let (result, raised) = interruptible(py, &watch, || Ok(()), || read(&spec, &stop, limit.unwrap_or(usize::MAX)))?;
    match result {
        Ok(table) => Ok((Some(table), raised)),
        Err(SourceError::Stopped) if raised.is_some() => Ok((None, raised)),
        Err(error) => Err(of_trace(py, &error)),
    }
}

fn read(spec: &TraceSpec, stop: &Stop, limit: usize) -> Result<Table, SourceError> {
    let mut reader = open_stoppable_trace(spec, stop)?;
    let (mut arrivals, mut devices, mut offsets, mut lengths) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut directions = Names::with_capacity(0);
    let mut first_ns = None;
    while arrivals.len() < limit
        && let Some(record) = reader.next_record()?
    {
        if arrivals.len() % (1 << 16) == 0 {
            stop.error_if_stopped()?;
        }
        arrivals.push(record.time_ns - *first_ns.get_or_insert(record.time_ns));
        devices.push(record.device);
        offsets.push(record.offset_bytes);
        lengths.push(record.length_bytes);
        directions.push(record.kind);
    }
    Ok(Table::of(vec![
        ("arrival_ns".to_owned(), numbers_u64(arrivals)),
        ("device".to_owned(), numbers_u32(devices)),
        ("offset_bytes".to_owned(), numbers_u64(offsets)),
        ("length_bytes".to_owned(), numbers_u64(lengths)),
        ("direction".to_owned(), directions.finish()),
    ]))
}

/// Statistics of a trace, as the JSON document of `flashraid trace info --json`.
#[pyfunction]
#[pyo3(signature = (path, *, format, devices))]
pub fn trace_info(py: Python<'_>, path: PathBuf, format: Option<&str>, devices: Option<Vec<u32>>) -> PyResult<String> {
    let spec = spec(py, path, format, devices)?;
    let info = py.detach(|| flashraid::workload::trace::trace_info(&spec)).map_err(|error| of_trace(py, &error))?;
    Ok(serde_json::to_string(&info).expect("statistics are plain data"))
}

/// Writes requests as a trace; gives the number written, and what the format could not hold, as a JSON document.
#[pyfunction]
pub fn write_trace(py: Python<'_>, requests: Bound<'_, Requests>, path: PathBuf, format: &str) -> PyResult<String> {
    let writable = || WRITABLE_FORMATS.map(|format| format.name()).join(", ");
    let format = WRITABLE_FORMATS
        .into_iter()
        .find(|known| known.name() == format)
        .ok_or_else(|| refused_at(py, "format", &format!("{format:?}"), &format!("one of {}", writable()), None))?;
    let requests = requests.get();
    let mut devices = requests.devices.clone();
    devices.sort_unstable();
    devices.dedup();
    if devices.is_empty() {
        devices.push(0);
    }
    if let Some(end) = format.devices_max()
        && let Some(device) = devices.iter().find(|device| **device >= end)
    {
        let allowed = format!("below {end} in the format {format}");
        return Err(refused_at(py, "device", &device.to_string(), &allowed, Some("choose another format")));
    }
    let mut row = 0;
    let next = || {
        let request = requests.list.get(row);
        let device = requests.devices.get(row).copied().unwrap_or(0);
        row += 1;
        Ok(request.map(|request| TraceRecord {
            time_ns: request.arrival_ns,
            device,
            offset_bytes: request.offset_bytes,
            length_bytes: request.length_bytes,
            kind: request.kind,
            fua: request.fua,
            zeroes: request.zeroes,
            response_ns: None,
        }))
    };
    let written = py.detach(|| write_trace_records(&path, format, &devices, next)).map_err(|error| of_trace(py, &error))?;
    Ok(serde_json::to_string(&written).expect("counts are plain data"))
}
