"""Data sets of translations, semantic roles and ratings from small archives, against the real Paddle."""

import gzip
import io
import tarfile
import zipfile

import pytest

WORDS = ["The", "cat", "sat", "and", "ate", "fish", ".", "", "Dogs", "bark", "", "Silence", "", "It", "will", "rain", ""]
ROLES = [
    "-  (A0*  (A0*", "-  *)   *)", "sit (V*) *", "- * (C-A0*)", "eat * (V*)", "- (AM-TMP*) (A1*", "- * *)", "", "- (A0*)", "bark (V*)", "", "-", "",
    "- (A0*)", "- (AM-MOD*)", "rain (V*)", "",
]
PAIRS = {
    "train": "a cat sat\teine Katze sass\nthe cat\tdie Katze\nno tab here\na the a dog\tein der ein Hund\n", "test": "a fish sat\tein Fisch sass\n",
    "val": "the\tdie\n", "gen": "cat cat\tKatze\n" + "w " * 79 + "\tx\n" + "w " * 78 + "\t" + "y " * 80 + "\n",
}


def packed(path, files):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            content = content if isinstance(content, bytes) else content.encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return str(path)


@pytest.fixture
def files(tmp_path):
    def text(name, content):
        (tmp_path / name).write_text(content)
        return str(tmp_path / name)

    texts = (("words", WORDS), ("props", ROLES))
    parts = {f"conll05st-release/test.wsj/{kind}/test.wsj.{kind}.gz": gzip.compress("\n".join([*rows, ""]).encode()) for kind, rows in texts}
    with zipfile.ZipFile(tmp_path / "ml.zip", "w") as archive:
        archive.writestr("ml-1m/movies.dat", "1::Toy Story (1995)::Animation|Comedy\n7::Caf\u00e9 \x85 of Toys (2) (1990)::Drama\n".encode("latin1"))
        archive.writestr("ml-1m/users.dat", "1::F::1::10::48067\n2::M::56::16::70072\n3::M::25::15::5\n")
        archive.writestr("ml-1m/ratings.dat", "".join(f"{1 + i % 3}::{(1, 7)[i % 2]}::{1 + i % 5}::978300760\n" for i in range(40)))
    english, french = "<s>\n<e>\n<unk>\na\ncat\nthe\nsat\n", "<s>\n<e>\n<unk>\nKatze\neine\ndie\n"
    french14 = {f"wmt14/{part}/{part}": PAIRS[part] for part in ("train", "test", "gen")}
    french14 |= {"wmt14/src.dict": english, "wmt14/trg.dict": french}
    return {
        "Conll05st": {
            "data_file": packed(tmp_path / "conll.tgz", parts),
            "word_dict_file": text("words", "<unk>\nThe\ncat\nsat\nate\nDogs\nbos\neos\n.\n"),
            "verb_dict_file": text("verbs", "sit\neat\nbark\n"),
            "target_dict_file": text("targets", "B-A0\nI-A0\nB-V\nI-V\nB-A1\nI-A1\nB-C-A0\nB-AM-TMP\nB-AM-MOD\nO\n"),
            "emb_file": text("emb", ""),
        },
        "Movielens": {"data_file": str(tmp_path / "ml.zip")},
        "WMT14": {"data_file": packed(tmp_path / "wmt14.tgz", french14)},
        "WMT16": {"data_file": packed(tmp_path / "wmt16.tgz", {f"wmt16/{part}": PAIRS[part] for part in ("train", "test", "val")})},
    }


@pytest.fixture
def home(oracle, tmp_path, monkeypatch):
    """A folder of its own for what the real Paddle writes."""
    (tmp_path / "home/wmt16").mkdir(parents=True)
    monkeypatch.setattr(oracle.dataset.common, "DATA_HOME", str(tmp_path / "home"))


def made(paddle, files, name, **settings):
    return getattr(paddle.text, name)(**{**files[name], **settings})


def outcome(call):
    try:
        return call()
    except Exception as error:
        return type(error)


def rows(data):
    return [[(str(field.dtype), field.tolist()) for field in data[i]] for i in range(len(data))]


def spelled(numbers, words):
    names = {number: word for word, number in words.items()}
    return [names[n] for n in numbers]


def test_roles(paddle, oracle, files):
    """Everything but the numbers of the roles, which the real Paddle deals out anew in each run."""
    ours, theirs = (made(p, files, "Conll05st") for p in (paddle, oracle))
    assert len(ours) == len(theirs) == 4 and (ours.sentences, ours.predicates, ours.labels) == (theirs.sentences, theirs.predicates, theirs.labels)
    assert ours.get_dict()[:2] == theirs.get_dict()[:2] and set(ours.label_dict) == set(theirs.label_dict) and ours.label_dict["O"] == 12
    assert ours.get_embedding() == theirs.get_embedding()
    for i in range(4):
        mine, other = ours[i], theirs[i]
        assert [f.tolist() for f in mine[:8]] == [f.tolist() for f in other[:8]] and [f.dtype for f in mine[:6]] == [f.dtype for f in other[:6]]
        assert spelled(mine[8].tolist(), ours.label_dict) == spelled(other[8].tolist(), theirs.label_dict)


def test_roles_written_otherwise(paddle, files, tmp_path):
    lines = {"words": gzip.compress(b"go\n\n"), "props": gzip.compress(b"go B-V\n\n")}
    bad = packed(tmp_path / "bad.tgz", {f"conll05st-release/test.wsj/{kind}/test.wsj.{kind}.gz": content for kind, content in lines.items()})
    with pytest.raises(RuntimeError, match="'B-V'"):
        made(paddle, files, "Conll05st", data_file=bad)


@pytest.mark.parametrize("settings", [
    {}, {"mode": "test"}, {"mode": "TEST", "test_ratio": 0.5, "rand_seed": 3}, {"mode": "bad"}, {"data_file": "/nowhere"}])  # fmt: skip
def test_ratings(paddle, oracle, files, settings):
    ours, theirs = (outcome(lambda p=p: made(p, files, "Movielens", **settings)) for p in (paddle, oracle))
    if isinstance(theirs, type):
        assert ours is theirs
        return
    assert len(ours) == len(theirs) > 0 and set(ours.movie_title_dict) == set(theirs.movie_title_dict)
    assert repr(ours.movie_info) == repr(theirs.movie_info) and repr(ours.user_info) == repr(theirs.user_info)
    for mine, other in zip(map(list, ours), map(list, theirs), strict=True):
        for at, words in ((5, "categories_dict"), (6, "movie_title_dict")):
            assert spelled(mine.pop(5).tolist(), getattr(ours, words)) == spelled(other.pop(5).tolist(), getattr(theirs, words)), at
        assert [(f.dtype, f.tolist()) for f in mine] == [(f.dtype, f.tolist()) for f in other]


@pytest.mark.parametrize("settings", [
    {"dict_size": 30}, {"dict_size": 6}, {"mode": "test", "dict_size": 5}, {"mode": "gen", "dict_size": 30}, {"mode": "val", "dict_size": 30}, {},
    {"dict_size": 30, "data_file": "/nowhere"}, {"dict_size": 30, "data_file": None, "download": False}])  # fmt: skip
def test_wmt14(paddle, oracle, files, settings):
    def found(p):
        data = made(p, files, "WMT14", **settings)
        return rows(data), data.get_dict(), data.get_dict(reverse=True)

    ours, theirs = (outcome(lambda p=p: found(p)) for p in (paddle, oracle))
    assert ours == theirs


@pytest.mark.parametrize("mode", ["train", "test", "val"])
@pytest.mark.parametrize("size", [2, 3, 5, 30])
def test_wmt16(paddle, oracle, files, home, mode, size):
    """The source from both ends: the real Paddle counts the words of the target in the source."""
    both = [made(paddle, files, "WMT16", mode=mode, src_dict_size=size, trg_dict_size=size, lang=lang) for lang in ("en", "de")]
    for lang, ours, other in zip(("en", "de"), both, both[::-1], strict=True):
        theirs = made(oracle, files, "WMT16", mode=mode, src_dict_size=size, trg_dict_size=size + 7, lang=lang)
        assert ours.src_dict == theirs.src_dict == ours.get_dict(lang) == theirs.get_dict(lang) and ours.src_ids == theirs.src_ids
        assert len(ours) == len(theirs) and [[f.dtype for f in row] for row in ours] == [[f.dtype for f in row] for row in theirs]
        assert other.trg_dict == ours.src_dict and [[0, *t[:-1], 1] for t in other.trg_ids_next] == ours.src_ids
        assert [t[1:] for t in ours.trg_ids] == [t[:-1] for t in ours.trg_ids_next]
        assert {word: number for number, word in ours.get_dict(lang, reverse=True).items()} == ours.src_dict


@pytest.mark.parametrize("settings", [{"mode": "gen"}, {"trg_dict_size": 0}, {}, {"src_dict_size": 0}, {"data_file": None, "download": False}])
def test_wmt16_refuses(paddle, oracle, files, home, settings):
    if not settings:
        settings = {"data_file": "/nowhere"}
    ours, theirs = (outcome(lambda p=p: made(p, files, "WMT16", **{"src_dict_size": 5, "trg_dict_size": 5, **settings})) for p in (paddle, oracle))
    assert isinstance(ours, type) and ours is theirs


@pytest.mark.parametrize("argument", ["data_file", "word_dict_file", "verb_dict_file", "target_dict_file", "emb_file"])
def test_a_missing_file_is_named(paddle, files, argument):
    with pytest.raises(AssertionError, match=argument):
        made(paddle, files, "Conll05st", **{argument: None}, download=False)


def test_they_are_read_by_workers(paddle, files):
    data = made(paddle, files, "Movielens")
    loader = paddle.io.DataLoader(data, batch_size=1, num_workers=2)
    assert [batch[-1].item() for batch in loader] == [row[-1].item() for row in data]
