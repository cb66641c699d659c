"""Build the wheel: ``python3 python/wheel.py PROGRAM LICENCES FOLDER [OS ARCH VERSION]`` (make wheel).

A wheel is a zip file with a list of its contents (PEP 427). This one carries the program, and
the LICENCES of what is in it (scripts/licenses), so it is for one platform: this one's, or OS
and ARCH as Go names them. The same program gives the same bytes.
"""

import base64
import hashlib
import json
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
TAGS = {
    ("linux", "amd64"): "manylinux2014_x86_64",
    ("linux", "arm64"): "manylinux2014_aarch64",
    ("darwin", "amd64"): "macosx_12_0_x86_64",
    ("darwin", "arm64"): "macosx_12_0_arm64",
}
ARCH = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def python_version(version: str) -> str:
    """A semantic version as PEP 440 spells it: 1.2.3-dev+g0 is 1.2.3.dev0+g0, 1.2.3-rc.1 is 1.2.3rc1."""
    m = re.fullmatch(r"(\d+\.\d+\.\d+)(?:-(dev|rc\.?\d+))?(?:\+([0-9a-z.]+))?", version)
    if m is None:
        raise SystemExit(f"wheel: {version} is no version")
    before = {None: "", "dev": ".dev0"}.get(m[2], (m[2] or "").replace(".", ""))
    return m[1] + before + (f"+{m[3]}" if m[3] else "")


def build(program: Path, licences: Path, folder: Path, system: str, arch: str, version: str) -> Path:
    tag = TAGS.get((system, arch))
    if tag is None:
        raise SystemExit(f"wheel: no platform tag is known for {system} on {arch}")
    version = python_version(version)
    info = f"darrm-{version}.dist-info"
    files = {f"darrm/{p.name}": p.read_bytes() for p in sorted((HERE / "darrm").glob("*.py"))}
    files["darrm/py.typed"] = b""
    files["darrm/bin/darrm"] = program.read_bytes()
    files[f"{info}/METADATA"] = (
        "Metadata-Version: 2.1\nName: darrm\n"
        f"Version: {version}\nSummary: The best possible private majority vote\nLicense: Apache-2.0\n"
        "Requires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n" + (HERE / "README.md").read_text(encoding="utf-8")
    ).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: darrm\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n".encode()
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\ndarrm = darrm.__main__:main\n"
    files[f"{info}/licenses/LICENSE"] = (HERE.parent / "LICENSE").read_bytes()
    others = [p for p in sorted(licences.rglob("*")) if p.is_file()]
    if not others:
        raise SystemExit(f"wheel: no licences are in {licences}")
    for p in others:
        files[f"{info}/licenses/third-party/{p.relative_to(licences).as_posix()}"] = p.read_bytes()
    record = f"{info}/RECORD"
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}")
    files[record] = ("\n".join([*lines, f"{record},,"]) + "\n").encode()

    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"darrm-{version}-py3-none-{tag}.whl"
    with zipfile.ZipFile(wheel, "w") as z:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.startswith("darrm/bin/") else 0o100644) << 16
            z.writestr(entry, content)
    return wheel


if __name__ == "__main__":
    if len(sys.argv) not in (4, 7):
        raise SystemExit(__doc__)
    program, licences, folder, *rest = sys.argv[1:]
    if not rest:
        said = subprocess.run([program, "version", "--json"], check=True, capture_output=True).stdout
        rest = [platform.system().lower(), ARCH.get(platform.machine(), platform.machine()), json.loads(said)["version"]]
    print(build(Path(program), Path(licences), Path(folder), *rest))
