//! Finds the places that can be changed, draws some and writes the changed sources.

use quote::ToTokens;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, BinOp, Block, Expr, ExprLit, File, ImplItemFn, Item, ItemFn, Lit, Pat, Stmt, UnOp, parse_quote};

/// The crate that is changed.
pub const MODEL: &str = "crates/flashraid-model";
/// Parts of it that are changed: files, and folders with all that is in them.
const CHANGED: [&str; 4] = ["src/array/members.rs", "src/coordination", "src/space", "src/ssd/front"];
/// Sources that belong to tests, or say what must hold; a change of them changes nothing that is simulated.
const LEFT_ALONE: [&str; 4] = ["tests.rs", "tiny.rs", "invariants.rs", "counters.rs"];
/// File in the copy that describes the drawn mutants.
pub const LIST: &str = "mutants.tsv";

/// Changes one file: counts its places, and changes those that are drawn.
struct Changer<'a> {
    /// Places so far, over all files.
    places: usize,
    /// The drawn places; each becomes the mutant of its position.
    drawn: Option<&'a BTreeSet<usize>>,
    /// Of each drawn place that was met: the line, what stands there, what takes its place.
    found: Vec<(usize, usize, String, String)>,
}

impl Changer<'_> {
    /// Counts a place, and says which mutant it is if it is drawn.
    fn place(&mut self) -> Option<usize> {
        let place = self.places;
        self.places += 1;
        self.drawn?.contains(&place).then_some(place)
    }

    fn note(&mut self, place: usize, line: usize, from: String, to: String) {
        self.found.push((place, line, from, to));
    }
}

fn text(of: &impl ToTokens) -> String {
    of.to_token_stream().to_string().replace('\n', " ")
}

/// Other operators of the same type.
fn other_operator(op: &BinOp) -> Option<BinOp> {
    Some(match op {
        BinOp::Lt(_) => parse_quote!(<=),
        BinOp::Le(_) => parse_quote!(<),
        BinOp::Gt(_) => parse_quote!(>=),
        BinOp::Ge(_) => parse_quote!(>),
        BinOp::Eq(_) => parse_quote!(!=),
        BinOp::Ne(_) => parse_quote!(==),
        BinOp::And(_) => parse_quote!(||),
        BinOp::Or(_) => parse_quote!(&&),
        BinOp::Add(_) => parse_quote!(-),
        BinOp::Sub(_) => parse_quote!(+),
        BinOp::Mul(_) => parse_quote!(/),
        BinOp::Div(_) => parse_quote!(*),
        BinOp::Rem(_) => parse_quote!(/),
        BinOp::Shl(_) => parse_quote!(>>),
        BinOp::Shr(_) => parse_quote!(<<),
        BinOp::AddAssign(_) => parse_quote!(-=),
        BinOp::SubAssign(_) => parse_quote!(+=),
        _ => return None,
    })
}

/// Returns true if a condition binds names, so that it can stand nowhere else.
fn binds(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) => matches!(binary.op, BinOp::And(_)) && (binds(&binary.left) || binds(&binary.right)),
        _ => false,
    }
}

/// Returns an expression that may stand in the place of another.
fn other(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::Binary(binary) if !binds(expr) => {
            let mut changed = binary.clone();
            changed.op = other_operator(&binary.op)?;
            Some(Expr::Binary(changed))
        }
        Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => Some((*unary.expr).clone()),
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => {
            let more = syn::LitInt::new(&format!("{}{}", number.base10_parse::<u128>().ok()? + 1, number.suffix()), number.span());
            Some(Expr::Lit(ExprLit { attrs: Vec::new(), lit: Lit::Int(more) }))
        }
        Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }) => {
            let value = !value.value;
            Some(parse_quote!(#value))
        }
        Expr::MethodCall(call) if call.method == "min" || call.method == "max" => {
            let mut changed = call.clone();
            changed.method = syn::Ident::new(if call.method == "min" { "max" } else { "min" }, call.method.span());
            Some(Expr::MethodCall(changed))
        }
        _ => None,
    }
}

/// Returns true if a statement does something that could be left out.
fn does_something(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Expr(Expr::Assign(assign), Some(_)) => !matches!(*assign.left, Expr::Tuple(_) | Expr::Infer(_)),
        Stmt::Expr(Expr::MethodCall(_) | Expr::Call(_), Some(_)) => true,
        Stmt::Expr(Expr::Binary(_), Some(_)) => true,
        _ => false,
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| attribute.path().is_ident("test") || (attribute.path().is_ident("cfg") && text(&attribute.meta).contains("test")))
}

impl VisitMut for Changer<'_> {
    fn visit_item_mut(&mut self, item: &mut Item) {
        let skips = match item {
            Item::Const(_) | Item::Static(_) | Item::Enum(_) | Item::Macro(_) => true,
            Item::Mod(module) => is_test(&module.attrs),
            // What is printed is not simulated.
            Item::Impl(implementation) => {
                is_test(&implementation.attrs) || implementation.trait_.as_ref().is_some_and(|(_, path, _)| text(path).contains("Display"))
            }
            _ => false,
        };
        if !skips {
            visit_mut::visit_item_mut(self, item);
        }
    }

    fn visit_item_fn_mut(&mut self, function: &mut ItemFn) {
        if function.sig.constness.is_none() && !is_test(&function.attrs) {
            visit_mut::visit_item_fn_mut(self, function);
        }
    }

    fn visit_impl_item_fn_mut(&mut self, function: &mut ImplItemFn) {
        let says_what_holds = function.sig.ident.to_string().starts_with("verify");
        if function.sig.constness.is_none() && !says_what_holds && !is_test(&function.attrs) {
            visit_mut::visit_impl_item_fn_mut(self, function);
        }
    }

    fn visit_impl_item_const_mut(&mut self, _: &mut syn::ImplItemConst) {}

    // What stands in patterns, types and attributes is known before anything runs.
    fn visit_pat_mut(&mut self, _: &mut Pat) {}
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
    fn visit_attribute_mut(&mut self, _: &mut Attribute) {}
    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}

    fn visit_block_mut(&mut self, block: &mut Block) {
        // A changed statement may look like none.
        let does_something: Vec<bool> = block.stmts.iter().map(does_something).collect();
        visit_mut::visit_block_mut(self, block);
        for (stmt, does_something) in block.stmts.iter_mut().zip(does_something) {
            if does_something && let Some(place) = self.place() {
                self.note(place, stmt.span().start().line, text(stmt), String::new());
                *stmt = parse_quote!(if !crate::mutants::on(#place) { #stmt });
            }
        }
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        // A length is no choice.
        if let Expr::Repeat(repeat) = expr {
            return self.visit_expr_mut(&mut repeat.expr);
        }
        let line = expr.span().start().line;
        let before = text(expr);
        visit_mut::visit_expr_mut(self, expr);
        let Some(changed) = other(expr) else { return };
        let Some(place) = self.place() else { return };
        self.note(place, line, before, text(&changed));
        let is_statement = matches!(expr, Expr::Binary(binary) if matches!(binary.op, BinOp::AddAssign(_) | BinOp::SubAssign(_)));
        *expr = match is_statement {
            true => parse_quote!({ if crate::mutants::on(#place) { #changed } else { #expr } }),
            false => parse_quote!((if crate::mutants::on(#place) { #changed } else { #expr })),
        };
    }
}

/// The sources that are changed, in order.
fn sources(model: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = CHANGED.iter().map(|of| model.join(of)).collect();
    while let Some(path) = folders.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            folders.extend(entries.filter_map(Result::ok).map(|entry| entry.path()));
        } else if !LEFT_ALONE.iter().any(|name| path.ends_with(name)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// A stream of random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ (mixed >> 31)) * limit as u128) >> 64) as usize
    }
}

/// Writes the changed sources of `source` to `copy`, and the list of mutants beside them.
pub fn make(source: &Path, copy: &Path, mutants: usize, seed: u64) -> Result<(), String> {
    let model = source.join(MODEL);
    let mut parsed: Vec<(PathBuf, File)> = Vec::new();
    let mut counter = Changer { places: 0, drawn: None, found: Vec::new() };
    for path in sources(&model)? {
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let file = syn::parse_file(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        counter.visit_file_mut(&mut file.clone());
        parsed.push((path, file));
    }
    let (all, mut random) = (counter.places, Random(seed));
    let mut drawn = BTreeSet::new();
    while drawn.len() < mutants.min(all) {
        drawn.insert(random.below(all));
    }
    let mut list = String::new();
    let mut changer = Changer { places: 0, drawn: Some(&drawn), found: Vec::new() };
    for (path, mut file) in parsed {
        changer.visit_file_mut(&mut file);
        let relative = path.strip_prefix(source).map_err(|error| error.to_string())?;
        for (place, line, from, to) in changer.found.drain(..) {
            writeln!(list, "{place}\t{}:{line}\t{from}\t{to}", relative.display()).map_err(|error| error.to_string())?;
        }
        let target = copy.join(relative);
        std::fs::write(&target, prettyplease::unparse(&file)).map_err(|error| format!("{}: {error}", target.display()))?;
    }
    let root = copy.join(MODEL).join("src/lib.rs");
    let mut text = std::fs::read_to_string(&root).map_err(|error| format!("{}: {error}", root.display()))?;
    if !text.contains("pub mod mutants") {
        text.push_str(CHOICE);
        std::fs::write(&root, text).map_err(|error| format!("{}: {error}", root.display()))?;
    }
    std::fs::write(copy.join(LIST), list).map_err(|error| error.to_string())?;
    println!("{} of {all} places are drawn with seed {seed}", drawn.len());
    Ok(())
}

/// Which mutant is the other way in this run.
const CHOICE: &str = r#"
#[allow(missing_docs)]
pub mod mutants {
    pub fn on(place: usize) -> bool {
        static CHOSEN: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
        let chosen = || std::env::var("FLASHRAID_MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(usize::MAX);
        *CHOSEN.get_or_init(chosen) == place
    }
}
"#;
