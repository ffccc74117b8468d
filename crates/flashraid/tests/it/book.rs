//! Tests that the code of the page "As a library" of the book compiles: each of its lines is in a compiled file.

use flashraid::Study;

#[expect(dead_code, clippy::print_stdout, reason = "it reads and writes in the folder it is called in; that it compiles is what is tested")]
fn one_simulation() -> Result<(), Box<dyn std::error::Error>> {
    let report = flashraid::Simulation::from_file("array.toml")?.set("coordination.scheme", "reactive-inclusive")?.seed(7).run()?;
    println!("{:?} µs, {} collections", report.response_us.all.mean, report.gc.runs);
    std::fs::write("report.json", report.to_json())?;
    Ok(())
}

#[expect(dead_code, reason = "as above")]
fn on_several_machines() -> Result<(), Box<dyn std::error::Error>> {
    let study = Study::from_file("array.toml")?.vary("array.members", [2, 4, 8])?.seeds(20);
    study.clone().shard(1, 4)?.folder("part-1").run(&())?;
    let result = Study::merge(&["part-1", "part-2", "part-3", "part-4"])?;
    assert_eq!(result.points.len(), 3);
    Ok(())
}

/// Returns the blocks of Rust code of a page, each as its lines.
fn snippets(page: &str) -> Vec<Vec<&str>> {
    page.split("```rust\n").skip(1).map(|rest| rest.split("```").next().expect("a block ends").lines().collect()).collect()
}

#[test]
fn the_page_of_the_library_shows_what_compiles() {
    let page = include_str!("../../../../docs/library.md");
    let compiled = [include_str!("book.rs"), include_str!("../../examples/study.rs")];
    let code = |line: &str| line.split(" // ").next().expect("a line has a begin").trim().to_owned();
    let compiled: Vec<String> = compiled.iter().flat_map(|source| source.lines().map(code)).collect();
    let snippets = snippets(page);
    assert_eq!(snippets.len(), 3);
    for line in snippets.iter().flatten() {
        assert!(compiled.contains(&code(line)), "{line:?} is not compiled");
    }
}
