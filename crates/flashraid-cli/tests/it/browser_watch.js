window.problems = [];
addEventListener("error", (event) => problems.push(String(event.message)), true);
addEventListener("unhandledrejection", (event) => problems.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) => problems.push(`${event.violatedDirective} ${event.blockedURI}`));
for (const name of ["error", "warn"]) console[name] = (...what) => problems.push(what.join(" "));
