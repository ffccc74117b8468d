//! Mechanisms that are a file and a line of a list in the model, with every kind of device.

use super::*;

const DEVICES: [&str; 2] = ["ggc2014", "nvme-gen5"];

fn with(device: &str, text: &str) -> String {
    format!("[ssd]\npreset = \"{device}\"\n{text}")
}

#[test]
fn background_work_is_for_every_device_and_off_unless_it_is_set() {
    for device in DEVICES {
        assert!(read_with(&with(device, ""), &[]).unwrap().array.ssd.die_delay_mechanisms.is_empty());
        let text = with(device, "[ssd.background]\nevery = \"100ms\"\nlasts = \"1.5ms\"\n");
        let scenario = read_with(&text, &[]).unwrap();
        let background = scenario.array.ssd.die_delay_mechanisms.background.unwrap();
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

#[test]
fn read_retries_are_for_every_device() {
    for device in DEVICES {
        let scenario = read_with(&with(device, "[ssd.read_retry]\nshare = \"1%\"\ntimes = 4\n"), &[]).unwrap();
        let retry = scenario.array.ssd.die_delay_mechanisms.read_retry.unwrap();
        assert_eq!((retry.share.0, retry.times), (0.01, 4));
        for (text, expected) in [
            ("share = 0.0\ntimes = 1\n", "`ssd.read_retry.share` is 0, but must be above 0"),
            ("share = 0.1\ntimes = 0\n", "`ssd.read_retry.times` is 0, but must be from 1 to 100"),
            ("share = 0.1\ntimes = 101\n", "`ssd.read_retry.times` is 101, but must be from 1 to 100"),
            ("share = 1.1\ntimes = 1\n", "`ssd.read_retry.share` is 1.1"),
            ("share = 0.1\n", "`ssd.read_retry` needs `times`"),
        ] {
            let problems = read_with(&with(device, &format!("[ssd.read_retry]\n{text}")), &[]).expect_err(text);
            assert_eq!(problems.list.len(), 1, "{device} {text}: {problems}");
            assert!(problems.list[0].message.contains(expected), "{device} {text}: {}", problems.list[0].message);
        }
    }
}
