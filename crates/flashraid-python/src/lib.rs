//! The native part of the Python package `flashraid`: simulations, studies and tables. The part that users see is written in Python, in
//! `python/flashraid`.
//!
//! Configurations and documents pass as JSON texts, rows as Arrow through the PyCapsule interface. Nothing calls Python for each request.

mod advise;
mod columns;
mod device;
mod error;
mod explain;
mod machine;
mod report;
mod run;
mod spec;
mod study;
mod table;
mod trace;
mod wait;

use pyo3::prelude::*;

/// The native part of flashraid.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<advise::Advice>()?;
    module.add_class::<columns::Requests>()?;
    module.add_class::<device::Device>()?;
    module.add_class::<report::Report>()?;
    module.add_class::<study::Batch>()?;
    module.add_class::<study::Plan>()?;
    module.add_class::<study::Study>()?;
    module.add_class::<table::Rows>()?;
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(advise::advise, module)?)?;
    module.add_function(wrap_pyfunction!(explain::check, module)?)?;
    module.add_function(wrap_pyfunction!(explain::presets, module)?)?;
    module.add_function(wrap_pyfunction!(explain::schema, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(study::merge, module)?)?;
    module.add_function(wrap_pyfunction!(trace::read_trace, module)?)?;
    module.add_function(wrap_pyfunction!(trace::trace_info, module)?)?;
    module.add_function(wrap_pyfunction!(report::write_file, module)?)?;
    module.add_function(wrap_pyfunction!(trace::write_trace, module)?)?;
    Ok(())
}
