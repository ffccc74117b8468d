"""Simulations whose figures are kept in a folder, so that what was stopped goes on where it was."""

import hashlib
import json
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


class KeptRuns:
    """Runs each simulation once with this program. `figures` takes from its report what is kept."""

    def __init__(self, program, folder, jobs, figures):
        self.program, self.folder, self.figures = program, folder, figures
        # Another program may have other results.
        self.origin = hashlib.sha256(Path(program).read_bytes()).hexdigest()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.pool = ThreadPoolExecutor(jobs)

    def run(self, configuration, settings):
        identity = [self.origin, Path(configuration).read_text(encoding="utf-8"), settings]
        name = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:24]
        file = self.folder / f"{name}.json"
        if not file.exists():
            options = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
            command = [self.program, "run", configuration, "--json", "--quiet", "--threads", "1", *options]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            if result.returncode:
                raise RuntimeError(f"{settings}: {result.stderr}")
            with tempfile.NamedTemporaryFile("w", dir=self.folder, delete=False, encoding="utf-8") as part:
                json.dump(self.figures(json.loads(result.stdout)), part)
            Path(part.name).rename(file)
        return json.loads(file.read_text(encoding="utf-8"))

    def all(self, runs):
        """Figures of pairs of configuration and settings, in their order."""
        return list(self.pool.map(lambda pair: self.run(*pair), runs))
