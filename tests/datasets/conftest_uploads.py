"""Files and archives to upload, and how the tests send them."""

import io
import warnings
import zipfile

from rankviz.datasets import make_data, write_letor
from rankviz.datasets.archives import Upload
from rankviz.datasets.parts import cyclic_fold
from rankviz.datasets.uploads import accept

DATA = make_data(n_queries=10, documents_per_query=(2, 6), n_features=3, seed=1)
FOLD = cyclic_fold(DATA, 1)


def text(data) -> bytes:
    out = io.BytesIO()
    write_letor(data, out)
    return out.getvalue()


TEXTS = {f"{part}.txt": text(data) for part, data in FOLD.parts.items()}
WHOLE = text(DATA)


def zipped(entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", method) as archive:
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, content in entries.items():
            info = zipfile.ZipInfo(name)
            info.filename = info.orig_filename = name  # ZipInfo would tidy it
            info.compress_type = method
            archive.writestr(info, content)
    return out.getvalue()


def fold_at(folder: str, **others: bytes) -> dict[str, bytes]:
    return {f"{folder}{name}": content for name, content in TEXTS.items()} | others


def send(root, *files: tuple[str, bytes], **keywords):
    return accept([Upload(name, io.BytesIO(content)) for name, content in files], root, **keywords)


GOOD_ZIP = zipped(fold_at("Fold1/"))
