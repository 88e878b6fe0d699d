"""Transforms of images of pillow, arrays and Tensors against the real Paddle, pixel by pixel.

What the real Paddle does to arrays needs opencv; without it those rows are compared where it is not needed.
"""

import importlib.util
import random

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image")
HAS_CV2 = importlib.util.find_spec("cv2") is not None
PIXELS = np.random.RandomState(0).randint(0, 256, (16, 18, 3)).astype("uint8")
CORNERS = "[[0,0],[17,0],[17,15],[0,15]],[[1,1],[14,2],[16,13],[2,12]]"
KINDS = {
    "pil": lambda library: Image.fromarray(PIXELS),
    "grey": lambda library: Image.fromarray(PIXELS[:, :, 0]),
    "array": lambda library: PIXELS.copy(),
    "double": lambda library: PIXELS / 255,
    "tensor": lambda library: library.to_tensor(PIXELS.transpose(2, 0, 1).astype("float32") / 255),
}
EVERY = [
    "F.to_tensor(im)",
    "F.to_tensor(im,'HWC')",
    "F.resize(im,5)",
    "F.resize(im,(7,9))",
    "F.resize(im,(27,29),'bicubic')",
    "F.resize(im,16)",
    "F.resize(im,(27,29),'nearest')",
    "F.pad(im,2)",
    "F.pad(im,(1,2),7)",
    "F.pad(im,(1,2,3,4),0,'reflect')",
    "F.pad(im,(1,2,3,4),0,'edge')",
    "F.crop(im,1,2,5,4)",
    "F.crop(im,4,5,30,30)",
    "F.center_crop(im,5)",
    "F.center_crop(im,(5,8))",
    "F.hflip(im)",
    "F.vflip(im)",
    "F.adjust_brightness(im,.4)",
    "F.adjust_brightness(im,1.7)",
    "F.adjust_contrast(im,.4)",
    "F.adjust_contrast(im,1.7)",
    "F.adjust_hue(im,.2)",
    "F.adjust_hue(im,-.3)",
    "F.affine(im,20,(1,2),1.2,(5,10))",
    "F.affine(im,20,(1,2),.7,15,'bilinear')",
    "F.rotate(im,90,'nearest',True,fill=(0,0,0))",
    f"F.perspective(im,{CORNERS})",
    f"F.perspective(im,{CORNERS},'bilinear')",
    "F.erase(im,1,2,3,4,5)",
    "F.pad(im,(1,2,3))",
    "F.adjust_hue(im,.7)",
    "F.affine(im,'a',(1,2),1,0)",
    "F.affine(im,1,2,1,0)",
    "F.affine(im,1,(2,3,4),1,0)",
    "F.affine(im,1,(2,3),0,0)",
    "F.affine(im,1,(2,3),1,'a')",
    "F.affine(im,1,(2,3),1,(1,2,3))",
    "F.to_grayscale(im,2)",
    "F.resize(im,'a')",
    "F.resize(im,(3,4),'foo')",
    "F.pad(im,1,0,'foo')",
    "F.pad(im,'a')",
]
COLORED = [
    "F.adjust_saturation(im,.4)",
    "F.adjust_saturation(im,1.7)",
    "F.rotate(im,20)",
    "F.rotate(im,-35,'bilinear')",
    "F.rotate(im,20,'nearest',True)",
    "F.rotate(im,-70,'nearest',False,(3,4))",
    "F.rotate(im,20,fill=5)",
    "F.rotate(im,20,'bilinear',True,fill=(5,6,7))",
    "F.to_grayscale(im)",
    "F.to_grayscale(im,3)",
    "F.normalize(im,[.5,.4,.3],[.2,.3,.4],'HWC')",
    "F.normalize(im,.5,.2)",
]
ONLY = {
    "double": [
        "F.normalize(im,[.5,.4,.3],[.2,.3,.4],'HWC')",
        "F.normalize(im[..., 0],.5,.2)",
        "F.to_tensor(im)",
    ],
    "pil": [*EVERY, *COLORED, "F.pad(im,(1,2,3,4),0,'symmetric')"],
    "grey": [e for e in EVERY if "erase" not in e and "(0,0,0)" not in e],
    "array": [*EVERY, *[e for e in COLORED if "saturation" not in e], "F.pad(im,(1,2,3,4),0,'symmetric')"],
    "tensor": [*EVERY, *[e for e in COLORED if "'HWC'" not in e]],
}
FREE_OF_CV2 = ("to_tensor", "crop", "normalize(im,.5", "erase")  # of what the real Paddle does to arrays
OBJECTS = [
    "T.RandomResizedCrop(8)",
    "T.RandomResizedCrop((8,9),(.5,1.),(.1,.2))",
    "T.RandomResizedCrop(8,(3.,3.1),(3.,4.))",
    "T.RandomHorizontalFlip()",
    "T.RandomVerticalFlip(.3)",
    "T.BrightnessTransform(.4)",
    "T.BrightnessTransform((.4,.5))",
    "T.HueTransform(.4)",
    "T.ColorJitter(.4,.4,0,.4)",
    "T.RandomCrop(8)",
    "T.RandomCrop(8,2,True)",
    "T.RandomCrop((30,35),None,True,3)",
    "T.RandomCrop(40)",
    "T.RandomAffine(30)",
    "T.RandomAffine(30,(.1,.2),(.5,2),10)",
    "T.RandomAffine((10,20),(.1,.2),(.5,2),(1,2,3,4))",
    "T.RandomRotation(30)",
    "T.RandomRotation((10,20),'bilinear',True)",
    "T.RandomPerspective(.9)",
    "T.RandomPerspective(.3,.2,'bilinear')",
    "T.RandomErasing(1.)",
    "T.RandomErasing(.4,value=(1,2,3))",
    "T.RandomErasing(1.,value=(1,2))",
    "T.Pad((1,2))",
    "T.Grayscale(3)",
    "T.Resize((8,9))",
    "T.CenterCrop(9)",
    "T.Transpose()",
    "T.Normalize(.5,.2,'HWC')",
    "T.ToTensor()",
    "T.Compose([T.Resize(12), T.CenterCrop(8), T.ToTensor(), T.Normalize(.5, .5)])",
]
CALLS = """T.BaseTransform()(3)
T.BaseTransform(3)
T.BaseTransform(keys=('image','foo'))
T.BaseTransform().keys, T.BaseTransform().params
Id()(3)
Id()((3,4))
Id(('image','mask'))((3,4,5))
Id(('image','mask'))((3,))
Id(('image','boxes'))((3,4))
Id(['mask'])([3])
T.Compose([Id(),Id()])(3)
vars(T.RandomResizedCrop(3))
vars(T.Normalize(1,2))
vars(T.BrightnessTransform(.4))
vars(T.BrightnessTransform(0))
T.BrightnessTransform(-1)
T.BrightnessTransform((3,1))
T.ContrastTransform(-.4)
vars(T.HueTransform(.4)), vars(T.HueTransform(.6))
vars(T.ColorJitter(.4,.4,.4,.4))
vars(T.RandomCrop(3,(1,2)))
T.Pad((1,2,3))
T.Pad(1,0,'x')
T.RandomAffine((10,20),(.1,.2),(.5,2),(1,2,3,4)).shear
T.RandomAffine(-1)
T.RandomAffine(30,(1,2))
T.RandomAffine(30,scale=(-1,2))
T.RandomAffine('a')
vars(T.RandomRotation(30))
T.RandomRotation(-1)
T.RandomRotation((1,2,3))
T.RandomPerspective(2)
T.RandomPerspective(.5,2)
T.RandomPerspective().get_params(20,30,.5)
vars(T.RandomErasing())
T.RandomErasing(2)
T.RandomErasing(.5,(2,1))
T.RandomErasing(.5,value='a')
T.RandomErasing(.5,scale=3)
T.Resize('a')
T.Resize((1,2,3))
T.Grayscale(2)(pil)
T.RandomRotation(30)(3)
T.Resize(3)(3)""".splitlines()


def plain(result, library):
    """(kind, array) of an image."""
    if isinstance(result, Image.Image):
        return f"Image {result.mode}", np.asarray(result)
    if isinstance(result, library.Tensor):
        return f"Tensor {result.dtype}", result.numpy()
    return type(result).__name__, np.asarray(result)


def outcome(library, text, kind):
    names = {
        "F": library.vision.transforms.functional,
        "T": library.vision.transforms,
        "im": KINDS[kind](library),
    }
    try:
        result = eval(text, names)
        return plain(result(names["im"]) if text.startswith("T.") else result, library)
    except Exception as error:
        return error


def compare(oracle, paddle, text, kind, seed=0):
    found = []
    for library in (oracle, paddle):
        random.seed(seed), np.random.seed(seed)
        found.append(outcome(library, text, kind))
    want, got = found
    if isinstance(want, Exception):
        base = next(c for c in type(want).__mro__ if c.__module__ == "builtins")
        return None if isinstance(got, base) else f"{text}: the oracle raises {want!r}, we {got!r}"
    if isinstance(got, Exception):
        return f"{text}: we raise {got!r}"
    if got[0] != want[0] or got[1].shape != want[1].shape or got[1].dtype != want[1].dtype:
        return (
            f"{text}: the oracle gives {want[0]} {want[1].shape} {want[1].dtype}, we {got[0]} "
            f"{got[1].shape} {got[1].dtype}"
        )
    slack = 5e-6 if want[1].dtype.kind == "f" else 0
    apart = np.abs(want[1].astype("f8") - got[1]).max(initial=0)
    return (
        None
        if apart <= slack * max(1, np.abs(want[1]).max(initial=0))
        else f"{text}: pixels differ by up to {apart}"
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_functions(oracle, paddle, kind):
    rows = [
        row for row in ONLY[kind] if kind != "array" or HAS_CV2 or any(name in row for name in FREE_OF_CV2)
    ]
    problems = [problem for row in rows if (problem := compare(oracle, paddle, row, kind))]
    assert not problems, "\n".join(problems)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["pil", "tensor", *(["array"] if HAS_CV2 else [])])
def test_random_transforms_draw_as_the_oracle(oracle, paddle, kind):
    problems = [
        problem
        for row in OBJECTS
        for seed in range(3)
        if (problem := compare(oracle, paddle, row, kind, seed))
    ]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("text", CALLS)
def test_objects(oracle, paddle, text, capsys):
    found = []
    for library in (oracle, paddle):

        class Id(library.vision.transforms.BaseTransform):
            def _apply_image(self, image):
                return "image", image

            def _apply_mask(self, mask):
                return "mask", mask

        random.seed(0)
        try:
            found.append(
                eval(text, {"T": library.vision.transforms, "Id": Id, "pil": Image.fromarray(PIXELS)})
            )
        except Exception as error:
            found.append(error)
    want, got = found
    if isinstance(want, Exception):
        assert isinstance(got, next(c for c in type(want).__mro__ if c.__module__ == "builtins")), (want, got)
    else:
        assert got == want


def test_arrays_without_opencv(paddle, monkeypatch):
    """Flips, borders, brightness and contrast of arrays need no opencv here; what interpolates says
    what is missing."""
    import sys

    monkeypatch.setitem(sys.modules, "cv2", None)
    T = paddle.vision.transforms
    assert np.array_equal(T.hflip(PIXELS), PIXELS[:, ::-1]) and np.array_equal(T.vflip(PIXELS), PIXELS[::-1])
    assert np.array_equal(
        T.pad(PIXELS, (1, 0), 0, "edge"), np.pad(PIXELS, ((0, 0), (1, 1), (0, 0)), mode="edge")
    )
    assert np.array_equal(T.adjust_brightness(PIXELS, 0.5), PIXELS // 2)
    assert T.adjust_contrast(np.full([1, 1, 3], 74, "uint8"), 3.0).tolist() == [[[74, 74, 74]]]
    with pytest.raises(ImportError, match="opencv"):
        T.resize(PIXELS, 4)


def test_batches_and_whole_numbers(paddle):
    """Tensors of several images, and of uint8, which the real Paddle refuses, give what each image alone
    gives as floats."""
    T, images = (
        paddle.vision.transforms,
        paddle.to_tensor(np.stack([PIXELS, PIXELS[::-1]]).transpose(0, 3, 1, 2).astype("float32") / 255),
    )
    for transform in (
        lambda x: T.resize(x, (7, 9)),
        lambda x: T.rotate(x, 20),
        lambda x: T.crop(x, 1, 2, 3, 4),
        lambda x: T.adjust_hue(x, 0.2),
        lambda x: T.adjust_contrast(x, 0.4),
        lambda x: T.pad(x, (1, 2), 0, "symmetric"),
    ):
        both = transform(images).numpy()
        for i in range(2):
            np.testing.assert_allclose(both[i], transform(images[i]).numpy(), atol=1e-6)
        whole = transform((images * 255).round().astype("uint8"))
        # cut off twice
        assert whole.dtype == paddle.uint8 and np.abs(whole.numpy() / 255 - both).max() <= 2 / 255


def test_saturation_of_arrays(paddle):
    pytest.importorskip("cv2")
    T = paddle.vision.transforms.functional
    assert np.array_equal(T.adjust_saturation(PIXELS, 1.0), PIXELS)
    grey = T.adjust_saturation(PIXELS, 0.0)
    assert (grey[..., 0] == grey[..., 1]).all() and (grey[..., 1] == grey[..., 2]).all()


def test_erasing_with_random_pixels(paddle):
    np.random.seed(0), random.seed(0)
    erase = paddle.vision.transforms.RandomErasing(1.0, (0.3, 0.33), value="random")
    new = erase(paddle.full([3, 40, 50], 9.0)).numpy()
    drawn = new[new != 9.0]
    assert (
        0.25 * new.size < drawn.size < 0.36 * new.size
        and abs(drawn.mean()) < 0.15
        and abs(drawn.std() - 1) < 0.1
    )


@pytest.mark.filterwarnings("ignore")
def test_image_backends(oracle, paddle, tmp_path):
    path = str(tmp_path / "a.png")
    Image.fromarray(PIXELS).save(path)
    for text in (
        "V.get_image_backend()",
        "V.set_image_backend('x')",
        "V.image_load(path, 'x')",
        "V.image_load(path).size",
        "V.image_load(path + 'x')",
        "V.set_image_backend('pil')",
        "np.asarray(V.image_load(path, 'pil')).tolist()",
        *(["V.image_load(path, 'cv2').tolist()"] * HAS_CV2),
    ):
        found = []
        for library in (oracle, paddle):
            try:
                found.append(eval(text, {"V": library.vision, "path": path, "np": np}))
            except Exception as error:
                found.append(type(error))
        assert found[0] == found[1], text
    loaded = paddle.vision.image_load(path, "tensor")
    assert loaded.dtype == paddle.uint8 and np.array_equal(loaded.numpy(), PIXELS.transpose(2, 0, 1))
    paddle.vision.set_image_backend("tensor")
    assert paddle.vision.get_image_backend() == "tensor" and paddle.vision.image_load(path).shape == [
        3,
        16,
        18,
    ]
    paddle.vision.set_image_backend("pil")
