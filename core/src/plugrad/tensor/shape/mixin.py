"""The methods that move elements: views, and copies in another order."""

from plugrad.tensor.shape import diagonals, joins, movement, padding, reorder, stacks


class ShapeMixin:
    """Views, joins, padding, other orders and repeats."""

    __slots__ = ()

    # views
    reshape = movement.reshape
    view = movement.view
    permute = movement.permute
    transpose = movement.transpose
    T = movement.T
    mT = movement.mT
    expand = movement.expand
    flip = movement.flip
    squeeze = movement.squeeze
    unsqueeze = movement.unsqueeze
    flatten = movement.flatten
    ravel = movement.flatten
    unflatten = movement.unflatten
    broadcast_to = movement.expand

    # other orders of axes and elements
    swapaxes = reorder.swapaxes
    movedim = reorder.movedim
    moveaxis = reorder.movedim
    rot90 = reorder.rot90
    roll = reorder.roll
    tile = reorder.tile
    unfold = reorder.unfold
    unbind = reorder.unbind
    rearrange = reorder.rearrange
    expand_as = reorder.expand_as
    view_as = reorder.reshape_as
    reshape_as = reorder.reshape_as
    pixel_shuffle = reorder.pixel_shuffle
    pixel_unshuffle = reorder.pixel_unshuffle

    # joining, splitting, repeating
    cat = joins.cat
    stack = joins.stack
    split = joins.split
    chunk = joins.chunk
    repeat = joins.repeat

    # joining along axes by name, and splitting
    atleast_1d = stacks.atleast_1d
    atleast_2d = stacks.atleast_2d
    atleast_3d = stacks.atleast_3d
    concat = joins.cat
    concatenate = joins.cat
    hstack = stacks.hstack
    vstack = stacks.vstack
    dstack = stacks.dstack
    column_stack = stacks.column_stack
    block_diag = stacks.block_diag
    tensor_split = stacks.tensor_split
    hsplit = stacks.hsplit
    vsplit = stacks.vsplit
    dsplit = stacks.dsplit
    swapdims = reorder.swapaxes
    fliplr = stacks.fliplr
    flipud = stacks.flipud
    diagflat = stacks.diagflat

    # padding and intervals
    pad = padding.pad
    pad_to = padding.pad_to
    shrink_to = padding.shrink_to
    shrink = padding.shrink
    narrow = padding.narrow
    select = padding.select

    # diagonals and triangles
    tri = classmethod(diagonals.tri)
    tril = diagonals.tril
    triu = diagonals.triu
    diagonal = diagonals.diagonal
    diag = diagonals.diag
    diag_embed = diagonals.diag_embed
    meshgrid = diagonals.meshgrid
