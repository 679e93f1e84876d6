"""Downloads the packages of `sources.toml` with their registries' own clients, and reads their files.

`versions.toml` pins the versions of the first download. A package that can't be downloaded is reported and skipped;
`SOURCES.md` lists the packages that were used.
"""

import io
import json
import logging
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_log = logging.getLogger(__name__)
FOLDER = Path(__file__).parents[1]
MAX_FILE_BYTES = 400_000  # larger ones are generated or bundled


@dataclass(frozen=True, slots=True)
class Source:
    """One package of `sources.toml`."""

    registry: str
    """ "pypi" (wheels), "pypi-source", "npm", "debian" (binary packages that carry source) or "debian-source"."""
    name: str
    licence: str
    """SPDX expression."""
    role: str
    """ "train", "valid", "pilot", "cards" or "headings"."""

    @property
    def folder_name(self) -> str:
        """The name without slashes."""
        return self.name.replace("/", "+")


def read_sources(path: Path = FOLDER / "sources.toml") -> list[Source]:
    """Return every package to train or measure on, in the order of the file."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return [
        Source(registry, name, licence, role)
        for registry, roles in tables.items()
        for role, packages in roles.items()
        for name, licence in packages.items()
    ]


def download(sources: list[Source], folder: Path, *, n_parallel: int = 4) -> dict[str, str]:
    """Download the packages that are not in `folder` yet; return "registry/name" -> version of those that are there."""
    folder.mkdir(parents=True, exist_ok=True)
    pins = _read_pins()
    if any(source.registry == "debian-source" for source in sources):
        _prepare_debian_sources(folder)
    with ThreadPoolExecutor(n_parallel) as pool:
        versions = dict(pool.map(lambda source: _download_one(source, folder, pins), sources))
    return {key: version for key, version in versions.items() if version}


def archives(source: Source, folder: Path) -> list[Path]:
    """Return the downloaded archives of one package; a Debian source can have several."""
    place = folder / source.registry / source.folder_name
    return sorted(path for path in place.glob("*") if path.suffix not in {".dsc", ".asc"}) if place.is_dir() else []


def read_files(archive: Path, suffixes: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield (path inside the archive, text) of the source files of a wheel, npm tarball, .deb or source tarball."""
    if archive.suffix in {".whl", ".zip"}:
        with zipfile.ZipFile(archive) as bundle:
            for info in bundle.infolist():
                if Path(info.filename).suffix in suffixes and info.file_size <= MAX_FILE_BYTES:
                    yield info.filename, bundle.read(info).decode("utf-8", "replace")
        return
    if archive.suffix == ".deb":
        done = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(archive)], check=True, capture_output=True)
        stream: BinaryIO = io.BytesIO(done.stdout)
    else:
        stream = archive.open("rb")
    with stream, tarfile.open(fileobj=stream) as tar:
        for member in tar:
            if member.isfile() and Path(member.name).suffix in suffixes and member.size <= MAX_FILE_BYTES:
                content = tar.extractfile(member)
                if content is not None:
                    yield member.name, content.read().decode("utf-8", "replace")


def _download_one(source: Source, folder: Path, pins: dict[str, str]) -> tuple[str, str]:
    """Return "registry/name" and the version, "" if the package can't be downloaded."""
    key = f"{source.registry}/{source.name}"
    place = folder / source.registry / source.folder_name
    version_file = folder / source.registry / f"{source.folder_name}.version"
    if version_file.exists():
        return key, version_file.read_text(encoding="utf-8")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    try:
        version = _CLIENTS[source.registry](source.name, pins.get(key, ""), place, folder)
    except (subprocess.CalledProcessError, OSError) as error:
        detail = getattr(error, "stderr", b"") or str(error).encode()
        _log.warning("skipped %s: %s", key, detail.decode("utf-8", "replace").strip()[-160:])
        shutil.rmtree(place, ignore_errors=True)
        return key, ""
    version_file.write_text(version, encoding="utf-8")
    return key, version


def _run(command: list[str], cwd: Path) -> str:
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, timeout=300).stdout.decode()


def _pypi(name: str, version: str, place: Path, _folder: Path) -> str:
    # Wheels only: for a source distribution pip would run its build code.
    wanted = f"{name}=={version}" if version else name
    _run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", wanted], place)
    return next(place.glob("*.whl")).name.split("-")[1]


def _pypi_source(name: str, version: str, place: Path, _folder: Path) -> str:
    # Only source distributions contain the documents.
    wanted = f"{name}=={version}" if version else name
    _run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", wanted], place)
    return next(place.glob("*.tar.gz")).name.removesuffix(".tar.gz").rpartition("-")[2]


def _npm(name: str, version: str, place: Path, _folder: Path) -> str:
    report = _run(["npm", "pack", "--silent", "--json", f"{name}@{version}" if version else name], place)
    return str(json.loads(report)[0]["version"])


def _debian(name: str, version: str, place: Path, _folder: Path) -> str:
    try:
        _run(["apt-get", "download", "-q", f"{name}={version}" if version else name], place)
    except subprocess.CalledProcessError:  # Debian keeps only the newest version of a release
        _run(["apt-get", "download", "-q", name], place)
    return next(place.glob("*.deb")).name.split("_")[1].replace("%3a", ":")


def _debian_source(name: str, _version: str, place: Path, folder: Path) -> str:
    _run(["apt-get", *_apt_options(folder), "source", "-q", "--tar-only", "--download-only", name], place)
    return next(place.glob("*.orig.tar.*")).name.split("_")[1].partition(".orig")[0]


_CLIENTS = {"pypi": _pypi, "pypi-source": _pypi_source, "npm": _npm, "debian": _debian, "debian-source": _debian_source}


def _apt_options(folder: Path) -> list[str]:
    """Return options that make apt use source packages without a change of this machine's settings."""
    apt = (folder / "apt").resolve()
    settings = {
        "Dir::Etc::sourcelist": apt / "sources.list",
        "Dir::Etc::sourceparts": apt / "sources.d",
        "Dir::State::lists": apt / "lists",
        "Dir::Cache": apt / "cache",
    }
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def _prepare_debian_sources(folder: Path) -> None:
    apt = folder / "apt"
    for name in ("sources.d", "lists/partial", "cache/archives/partial"):
        (apt / name).mkdir(parents=True, exist_ok=True)
    (apt / "sources.list").touch()
    for path in Path("/etc/apt/sources.list.d").glob("*.sources"):
        text = path.read_text(encoding="utf-8").replace("Types: deb\n", "Types: deb-src\n")
        (apt / "sources.d" / path.name).write_text(text, encoding="utf-8")
    try:
        _run(["apt-get", *_apt_options(folder), "update", "-q"], folder)
    except (subprocess.CalledProcessError, OSError) as error:
        _log.warning("no Debian sources here: %s", error)


def _read_pins() -> dict[str, str]:
    path = FOLDER / "versions.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
