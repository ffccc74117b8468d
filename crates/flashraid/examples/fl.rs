//! tmp
fn main() {
    let r = flashraid::bench::run(flashraid::bench::BenchSize::SMOKE, |s| eprintln!("{s}"));
    println!("{r:?}");
}
