"""Removes the records of contents that no file has any more."""

from contextlib import closing

from codecards.errors import SnapshotMissingError
from codecards.indexer.index_folder import IndexFolder, Manifest
from codecards.indexer.store.writer import SnapshotWriter


def clean_kept(folder: IndexFolder) -> int:
    """Remove them and return how many bytes the database shrank.

    Raises:
        SnapshotMissingError: There is no index.
        SnapshotFormatError: Another version wrote the index.
        WriterBusyError: Another process is writing it.
    """
    if not folder.manifest_path.exists():
        raise SnapshotMissingError(f"nothing is indexed in {folder.path}; run `codecards index` first")
    with folder.writing():
        manifest = folder.read_manifest()
        before = folder.database.stat().st_size
        with closing(SnapshotWriter(folder.database)) as writer:
            with writer.transaction():
                writer.kept.limit(0)
            writer.vacuum()
        made_by = Manifest(manifest.format, manifest.extractor, manifest.derived, folder.database_stamp())
        folder.write_manifest(made_by)
        return max(0, before - folder.database.stat().st_size)
