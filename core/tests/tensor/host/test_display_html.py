"""Tensors in notebooks."""

from xml.etree import ElementTree

from plugrad import Tensor
from plugrad.tensor.host.display import svg_of


def test_a_notebook_shows_the_values_and_behind_a_fold_the_graph() -> None:
    x = Tensor([1.0, 2.0], device="PYTHON").realize()
    page = ElementTree.fromstring(f"<body>{(x.exp() * 3 + x.sum())._repr_html_()}</body>")
    assert [part.tag for part in page] == ["pre", "details"]
    assert "not computed" in str(page[0].text)
    texts = [str(t.text) for t in page.iter("{http://www.w3.org/2000/svg}text")]
    assert {"BUFFER", "EXP", "CONST 3.0", "REDUCE_AXIS"} <= set(texts)


def test_a_picture_of_a_large_graph_shows_its_end() -> None:
    x = Tensor([1.0], device="PYTHON").realize()
    for _ in range(100):
        x = (x + 1).exp()
    picture = svg_of(x.uop)
    assert picture.count("<rect") == 60
    assert "nodes above are left out" in picture
