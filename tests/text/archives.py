"""Small files of translations, semantic roles and ratings, in the formats of the data sets."""

import gzip
import io
import tarfile
import zipfile

WORDS = [
    "The",
    "cat",
    "sat",
    "and",
    "ate",
    "fish",
    ".",
    "",
    "Dogs",
    "bark",
    "",
    "Silence",
    "",
    "It",
    "will",
    "rain",
    "",
]
ROLES = [
    "-  (A0*  (A0*",
    "-  *)   *)",
    "sit (V*) *",
    "- * (C-A0*)",
    "eat * (V*)",
    "- (AM-TMP*) (A1*",
    "- * *)",
    "",
    "- (A0*)",
    "bark (V*)",
    "",
    "-",
    "",
    "- (A0*)",
    "- (AM-MOD*)",
    "rain (V*)",
    "",
]
PAIRS = {
    "train": "a cat sat\teine Katze sass\nthe cat\tdie Katze\nno tab here\na the a dog\tein der ein Hund\n",
    "test": "a fish sat\tein Fisch sass\n",
    "val": "the\tdie\n",
    "gen": "cat cat\tKatze\n" + "w " * 79 + "\tx\n" + "w " * 78 + "\t" + "y " * 80 + "\n",
}


def packed(path, files):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            content = content if isinstance(content, bytes) else content.encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return str(path)


def written(tmp_path):
    """{class: {argument: path}} of small files in the formats of the data sets."""

    def text(name, content):
        (tmp_path / name).write_text(content)
        return str(tmp_path / name)

    texts = (("words", WORDS), ("props", ROLES))
    parts = {
        f"conll05st-release/test.wsj/{kind}/test.wsj.{kind}.gz": gzip.compress(
            "\n".join([*rows, ""]).encode()
        )
        for kind, rows in texts
    }
    with zipfile.ZipFile(tmp_path / "ml.zip", "w") as archive:
        archive.writestr(
            "ml-1m/movies.dat",
            "1::Toy Story (1995)::Animation|Comedy\n7::Caf\u00e9 \x85 of Toys (2) (1990)::Drama\n".encode(
                "latin1"
            ),
        )
        archive.writestr("ml-1m/users.dat", "1::F::1::10::48067\n2::M::56::16::70072\n3::M::25::15::5\n")
        archive.writestr(
            "ml-1m/ratings.dat",
            "".join(f"{1 + i % 3}::{(1, 7)[i % 2]}::{1 + i % 5}::978300760\n" for i in range(40)),
        )
    english, french = "<s>\n<e>\n<unk>\na\ncat\nthe\nsat\n", "<s>\n<e>\n<unk>\nKatze\neine\ndie\n"
    french14 = {f"wmt14/{part}/{part}": PAIRS[part] for part in ("train", "test", "gen")}
    french14 |= {"wmt14/src.dict": english, "wmt14/trg.dict": french}
    return {
        "Conll05st": {
            "data_file": packed(tmp_path / "conll.tgz", parts),
            "word_dict_file": text("words", "<unk>\nThe\ncat\nsat\nate\nDogs\nbos\neos\n.\n"),
            "verb_dict_file": text("verbs", "sit\neat\nbark\n"),
            "target_dict_file": text(
                "targets", "B-A0\nI-A0\nB-V\nI-V\nB-A1\nI-A1\nB-C-A0\nB-AM-TMP\nB-AM-MOD\nO\n"
            ),
            "emb_file": text("emb", ""),
        },
        "Movielens": {"data_file": str(tmp_path / "ml.zip")},
        "WMT14": {"data_file": packed(tmp_path / "wmt14.tgz", french14)},
        "WMT16": {
            "data_file": packed(
                tmp_path / "wmt16.tgz", {f"wmt16/{part}": PAIRS[part] for part in ("train", "test", "val")}
            )
        },
    }
