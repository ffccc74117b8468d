//! Mechanisms that are a file and a line of a list in the model, with every kind of device.

use super::*;

const DEVICES: [&str; 2] = ["ggc2014", "nvme-gen5"];

fn with(device: &str, text: &str) -> String {
    format!("[ssd]\npreset = \"{device}\"\n{text}")
}

#[test]
fn background_work_is_for_every_device_and_off_unless_it_is_set() {
    for device in DEVICES {
        assert!(read_with(&with(device, ""), &[]).unwrap().array.ssd.mechanisms.is_empty());
        let text = with(device, "[ssd.background]\nevery = \"100ms\"\nlasts = \"1.5ms\"\n");
        let scenario = read_with(&text, &[]).unwrap();
        let background = scenario.array.ssd.mechanisms.background.unwrap();
        assert_eq!((background.every.ns, background.lasts.ns), (100_000_000, 1_500_000));
        let written = serde_json::to_value(&scenario.config).unwrap();
        assert_eq!(written["ssd"]["background"], serde_json::json!({ "every": "100ms", "lasts": "1500us" }));
    }
}

#[test]
fn background_work_that_contradicts_itself_is_refused() {
    let refused = [
        ("every = \"1ms\"\nlasts = \"1ms\"\n", "`ssd.background.every` is \"1ms\", but must be longer than `ssd.background.lasts` (1ms)"),
        ("every = \"1ms\"\nlasts = \"0us\"\n", "`ssd.background.lasts` is \"0us\", but must be at least 1ns"),
        ("every = \"2h\"\nlasts = \"1ms\"\n", "`ssd.background.every` is \"2h\", but must be at most 1h"),
        ("every = \"1ms\"\n", "`ssd.background` needs `lasts`"),
        ("every = 1\nlasts = \"1us\"\n", "`ssd.background.every` is 1"),
        ("every = \"1ms\"\nlasts = \"1us\"\nlsats = \"1us\"\n", "lsats"),
    ];
    for device in DEVICES {
        for (text, expected) in refused {
            let problems = read_with(&with(device, &format!("[ssd.background]\n{text}")), &[]).expect_err(text);
            assert_eq!(problems.list.len(), 1, "{device} {text}: {problems}");
            assert!(problems.list[0].message.contains(expected), "{device} {text}: {}", problems.list[0].message);
            assert!(problems.list[0].place.is_some(), "{device} {text}");
        }
        let problems = read_with(&with(device, "[ssd.backgruond]\nevery = \"1ms\"\n"), &[]).unwrap_err();
        assert!(problems.to_string().contains("background"), "{problems}");
    }
}
