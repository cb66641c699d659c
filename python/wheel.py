"""Build the wheel: ``python3 python/wheel.py PROGRAM FOLDER`` (make wheel).

A wheel is a zip file with a list of its contents (PEP 427). This one carries the program, so
it is for one platform. The same program gives the same bytes.
"""

import base64
import hashlib
import json
import platform
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
TAGS = {
    ("Linux", "x86_64"): "manylinux2014_x86_64",
    ("Linux", "aarch64"): "manylinux2014_aarch64",
    ("Darwin", "x86_64"): "macosx_12_0_x86_64",
    ("Darwin", "arm64"): "macosx_12_0_arm64",
}


def build(program: Path, folder: Path) -> Path:
    system, machine = platform.system(), platform.machine()
    tag = TAGS.get((system, machine))
    if tag is None:
        raise SystemExit(f"wheel: no platform tag is known for {system} on {machine}")
    version = json.loads(subprocess.run([program, "version", "--json"], check=True, capture_output=True).stdout)["version"]
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
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    print(build(Path(sys.argv[1]), Path(sys.argv[2])))
