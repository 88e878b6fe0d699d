"""Readers of sentences, translations, roles and ratings give what the real Paddle's give."""

import gzip

import pytest

from tests.text.archives import packed, written

pytestmark = pytest.mark.filterwarnings("ignore")  # of the real Paddle: readers are deprecated since 2.0
SENTENCES = {
    "train": " the cat <unk> sat on <unk> \n the dog sat on the cat the cat the\n a <unk> b <unk>\n\n",
    "valid": " the dog ran \n the cat\n",
    "test": " the cat ran\n",
}


@pytest.fixture
def served(paddle, oracle, tmp_path, monkeypatch):
    """Both engines take these paths for what they download; gives a function (engine.dataset -> value)
    -> (ours, theirs)."""

    def serve(files):
        asked = {}
        for engine in (paddle, oracle):
            asked[engine] = []

            def download(url, *rest, engine=engine):
                asked[engine].append((url, *rest))
                return files[url.split("/")[-1]]

            monkeypatch.setattr(engine.dataset.common, "download", download)

        def both(call):
            results = [call(engine.dataset) for engine in (paddle, oracle)]
            assert dict.fromkeys(asked[paddle]) == dict.fromkeys(asked[oracle])
            return results

        return both

    (tmp_path / "home/wmt16").mkdir(parents=True)
    monkeypatch.setattr(oracle.dataset.common, "DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(oracle.dataset.movielens, "MOVIE_INFO", None)
    return serve


def outcome(call):
    try:
        return call()
    except Exception as error:
        return type(error)


def constants(ours, theirs):
    """Both modules have the same constants."""
    names = [name for name, value in vars(theirs).items() if name.isupper() and isinstance(value, str | int)]
    assert names and {name: getattr(ours, name) for name in names} == {
        name: getattr(theirs, name) for name in names
    }


@pytest.fixture
def sentences(served, tmp_path):
    files = {f"./simple-examples/data/ptb.{part}.txt": text for part, text in SENTENCES.items()}
    return served({"imikolov%2Fsimple-examples.tgz": packed(tmp_path / "ptb.tgz", files)})


@pytest.mark.parametrize("more_than", [3, 4])
def test_dictionary_of_sentences(sentences, more_than):
    ours, theirs = sentences(lambda p: list(p.imikolov.build_dict(more_than).items()))
    # what the file calls so is a word like others
    assert ours == theirs and (b"<unk>" in dict(ours)) == (more_than < 4)
    ours, theirs = sentences(
        lambda p: dict(p.imikolov.word_count([b"a b\n", b""], {b"a": 3, "<s>": 0, "<e>": 1, b"b": 0}))
    )
    assert ours == theirs


@pytest.mark.parametrize("part", ["train", "test"])
@pytest.mark.parametrize(
    "n, kind",
    [
        (2, "NGRAM"),
        (3, "NGRAM"),
        (0, "NGRAM"),
        (-1, "NGRAM"),
        (-1, "SEQ"),
        (4, "SEQ"),
        (0, "SEQ"),
        (3, "other"),
    ],
)
def test_sentences(sentences, part, n, kind):
    words = {"<s>": 4, "<e>": 5, "<unk>": 6, b"the": 0, b"cat": 1, b"sat": 2, b"<unk>": 3}
    ours, theirs = sentences(
        lambda p: outcome(
            lambda: list(getattr(p.imikolov, part)(words, n, getattr(p.imikolov.DataType, kind, 7))())
        )
    )
    assert ours == theirs and ours


def test_fetching(sentences, paddle, oracle):
    sentences(lambda p: p.imikolov.fetch())
    for name in ("imikolov", "wmt14", "wmt16", "conll05", "movielens"):
        constants(getattr(paddle.dataset, name), getattr(oracle.dataset, name))


@pytest.fixture
def archives(served, tmp_path):
    files = written(tmp_path)
    roles = files["Conll05st"]
    return served(
        {
            "wmt14.tgz": files["WMT14"]["data_file"],
            "wmt%2Fwmt14.tgz": "",
            "wmt16.tar.gz": files["WMT16"]["data_file"],
            "ml-1m.zip": files["Movielens"]["data_file"],
            "movielens%2Fml-1m.zip": files["Movielens"]["data_file"],
            "conll05st-tests.tar.gz": roles["data_file"],
            "conll05st%2FwordDict.txt": roles["word_dict_file"],
            "conll05st%2FverbDict.txt": roles["verb_dict_file"],
            "conll05st%2FtargetDict.txt": roles["target_dict_file"],
            "conll05st%2Femb": roles["emb_file"],
        }
    )


@pytest.mark.parametrize("part", ["train", "test", "gen"])
@pytest.mark.parametrize("size", [0, 2, 3, 5, 30])
def test_french(archives, part, size):
    ours, theirs = archives(lambda p: outcome(lambda: list(getattr(p.wmt14, part)(size)())))
    assert ours == theirs and (ours is KeyError or len(ours) == {"train": 3, "test": 1, "gen": 2}[part])


@pytest.mark.parametrize("settings", [{}, {"reverse": False}])
def test_dictionaries_of_french(archives, settings):
    ours, theirs = archives(lambda p: p.wmt14.get_dict(5, **settings))
    assert ours == theirs and [len(words) for words in ours] == [5, 5]
    archives(lambda p: p.wmt14.fetch())


@pytest.mark.parametrize("part", ["train", "test", "validation"])
@pytest.mark.parametrize("sizes", [(3, 4), (5, 30), (2, 6)])
@pytest.mark.parametrize("lang", [{}, {"src_lang": "de"}, {"src_lang": "fr"}])
def test_german(archives, part, sizes, lang):
    ours, theirs = archives(lambda p: outcome(lambda: list(getattr(p.wmt16, part)(*sizes, **lang)())))
    assert ours == theirs and (ours is ValueError) == (lang == {"src_lang": "fr"})


@pytest.mark.parametrize("lang", ["en", "de"])
@pytest.mark.parametrize("settings", [{}, {"reverse": True}])
def test_dictionary_of_german(archives, lang, settings):
    def found(p):
        list(p.wmt16.train(5, 6)())  # the real Paddle's are built by readers
        return p.wmt16.get_dict(lang, {"en": 5, "de": 6}[lang], **settings)

    ours, theirs = archives(found)
    assert list(ours.items()) == list(theirs.items()) and len(ours) in (5, 6)


def test_roles(archives, paddle):
    names = [f"conll05st-release/test.wsj/{kind}/test.wsj.{kind}.gz" for kind in ("words", "props")]
    path = paddle.dataset.common.download(paddle.dataset.conll05.DATA_URL, "conll05st", "")
    corpora = archives(
        lambda p: (
            p.common.download(p.conll05.DATA_URL, "conll05st", ""),
            list(p.conll05.corpus_reader(path, *names)()),
        )
    )
    assert corpora[0] == corpora[1] and len(corpora[0][1]) == 4
    ours, theirs = archives(lambda p: (p.conll05.get_dict(), p.conll05.get_embedding()))
    assert ours[0][:2] == theirs[0][:2] and ours[1] == theirs[1]
    labels, expected = ours[0][2], theirs[0][2]
    assert (
        set(labels) == set(expected)
        and sorted(labels.values()) == sorted(expected.values())
        and labels["O"] == expected["O"]
    )
    samples = archives(
        lambda p: list(p.conll05.reader_creator(p.conll05.corpus_reader(path, *names), *ours[0])())
    )
    assert samples[0] == samples[1] and all(
        type(number) is int for sample in samples[0] for number in sample[0] + sample[7]
    )


def test_roles_written_otherwise(archives, tmp_path):
    names = {"words": gzip.compress(b"go\n\n"), "props": gzip.compress(b"go B-V\n\n")}
    path = packed(tmp_path / "bad.tgz", names)
    assert (
        archives(lambda p: outcome(lambda: list(p.conll05.corpus_reader(path, "words", "props")())))
        == [RuntimeError] * 2
    )


@pytest.mark.parametrize("part", ["train", "test"])
@pytest.mark.parametrize("settings", [{}, {"rand_seed": 3, "test_ratio": 0.5}])
def test_ratings(archives, part, settings):
    def spelled(p):
        kinds, words = (
            {n: word for word, n in numbers.items()}
            for numbers in (p.movielens.movie_categories(), p.movielens.get_movie_title_dict())
        )
        for *who, film, categories, title, rating in getattr(p.movielens, part)(**settings)():
            yield who, film, [kinds[n] for n in categories], [words[n] for n in title], rating

    ours, theirs = archives(lambda p: list(spelled(p)))
    assert ours == theirs and ours


def test_films_and_users(archives):
    def found(p):
        p.movielens.fetch()
        sizes = (
            p.movielens.max_movie_id(),
            p.movielens.max_user_id(),
            p.movielens.max_job_id(),
            p.movielens.age_table,
        )
        return (
            sizes,
            p.movielens.user_info(),
            p.movielens.movie_info(),
            [user.value() for user in p.movielens.user_info().values()],
        )

    ours, theirs = archives(found)
    assert repr(ours) == repr(theirs)
    ours, theirs = archives(lambda p: len(p.movielens.MovieInfo("9", ["Drama"], "Toy Story ").value()[2]))
    assert ours == theirs == 2
    ours, theirs = archives(lambda p: p.movielens.movie_info() is p.movielens.movie_info())
    assert ours is theirs is True


def test_what_the_real_one_cannot_do_is_absent(paddle, oracle):
    with pytest.raises(AttributeError):
        oracle.dataset.wmt16.fetch()
    assert not hasattr(paddle.dataset.wmt16, "fetch") and not hasattr(paddle.dataset.common, "fetch_all")
