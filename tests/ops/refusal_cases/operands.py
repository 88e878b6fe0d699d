"""Types and shapes of operands: default types, biases, sizes."""

CASES = {
    "float64 by default": r"""
        nn.Linear(2,3)(f(4,2))
        nn.Linear(2,3)(d(4,2)).dtype
        nn.Conv1D(2,3,2)(f(1,2,5)).dtype
        nn.Conv1DTranspose(2,3,2)(f(1,2,5)).dtype
        nn.Conv2DTranspose(2,3,2)(f(1,2,5,5)).dtype
        nn.BatchNorm1D(3)(f(4,3)).dtype
        nn.BatchNorm2D(3)(f(4,3,2,2)).dtype
        nn.BatchNorm(3)(f(4,3)).dtype
        nn.LayerNorm(3)(f(4,3)).dtype
        nn.GroupNorm(1,3)(f(4,3,2)).dtype
        nn.InstanceNorm1D(3)(f(4,3,5)).dtype
        nn.InstanceNorm2D(3)(f(4,3,5,5)).dtype
        nn.RMSNorm(3)(f(4,3)).dtype
        nn.SpectralNorm([2,3])(f(2,3)).dtype
        nn.LocalResponseNorm(2)(f(4,3,5,5)).dtype
        nn.PReLU()(f(4,3)).dtype
        nn.PReLU(3)(f(4,3)).dtype
        nn.Bilinear(2,3,4)(f(5,2),f(5,3)).dtype
        nn.Embedding(4,3)(i(4,2)).dtype
        nn.SimpleRNNCell(2,3)(f(4,2))[0].dtype
        nn.LSTMCell(2,3)(f(4,2))[0].dtype
        nn.GRUCell(2,3)(f(4,2))[0].dtype
        nn.SimpleRNN(2,3)(f(1,4,2))[0].dtype
        nn.LSTM(2,3)(f(1,4,2))[0].dtype
        nn.GRU(2,3)(f(1,4,2))[0].dtype
        nn.MultiHeadAttention(4,2)(f(1,3,4)).dtype
        nn.TransformerEncoderLayer(4,2,4)(f(1,3,4)).dtype
        nn.HSigmoidLoss(3,4)(f(2,3),i(4,2,1)).dtype
        nn.Dropout(0.5)(f(2,3)).dtype
        nn.Softmax()(f(2,3)).dtype
        nn.CrossEntropyLoss()(f(3,4),i(4,3)).dtype
        nn.CrossEntropyLoss(weight=f(4))(d(3,4),i(4,3)).dtype
        nn.MSELoss()(f(3),d(3)).dtype
        nn.AvgPool2D(2)(f(1,1,4,4)).dtype
        nn.Upsample(scale_factor=2)(f(1,1,4,4)).dtype
        nn.PairwiseDistance()(f(2,3),d(2,3)).dtype
        nn.CosineSimilarity()(f(2,3),d(2,3)).dtype
        nn.BCELoss()(F.sigmoid(f(3)),F.sigmoid(f(3))).dtype
        P.ones([2])+f(2)
        f(2)*2.5
        P.to_tensor([1.0])+f(1)
        P.full([2],1.5).dtype
        P.arange(0.,2.,0.5).dtype
        P.linspace(0,1,3).dtype
        P.rand([2]).dtype
        P.to_tensor(1.5).dtype
        P.to_tensor([1,2])/2
        P.to_tensor(3)*1.5
        P.mean(f(3)).dtype
        P.nn.functional.one_hot(i(3,2),3).dtype
        P.eye(2).dtype
        P.zeros([2]).dtype
        P.randn([2]).dtype
        P.normal(0.,1.,[2]).dtype
        P.logspace(0,1,3).dtype
        P.tril_indices(2,2,0).dtype
        P.sqrt(P.to_tensor([4])).dtype
        P.exp(i(3,2)).dtype
    """,
    "operands": r"""
        F.prelu(f(2,3), f())
        F.prelu(f(), f(1))
        F.prelu(f(), f())
        F.prelu(f(2,3), f(3))
        F.prelu(f(2,3), f(2))
        F.prelu(f(2,3), f(1,3))
        F.prelu(f(2,3,4), f(3))
        F.prelu(f(2,3,4), f(4), data_format="NLC")
        F.prelu(f(3), f(3))
        grads(F.prelu, f(2,3), f())
        P.repeat_interleave(f(2,3), P.to_tensor(2))
        P.repeat_interleave(f(2,3), P.to_tensor(2), 1)
        P.repeat_interleave(f(2,3), P.to_tensor([2]), 1)
        P.repeat_interleave(f(2,3), P.to_tensor([2,1]), 0)
        P.repeat_interleave(f(2,3), P.to_tensor([2,1]), 1)
        P.repeat_interleave(f(), 3)
        P.repeat_interleave(f(), 3, 0)
        P.repeat_interleave(f(2), P.to_tensor([1,2],dtype='int32'))
        P.repeat_interleave(f(2), P.to_tensor([1.,2.]))
        P.repeat_interleave(f(2), -1)
        P.repeat_interleave(f(2), 0)
        P.repeat_interleave(f(2), [1,2])
        P.repeat_interleave(f(2,3), P.to_tensor([[2,1]]), 0)
        P.select_scatter(f(2,3), f(3), 0, 1)
        P.select_scatter(f(3), f(), 0, 1)
        P.select_scatter(f(2,3), f(), 0, 1)
        P.select_scatter(f(), f(), 0, 0)
        P.select_scatter(f(3), f(1), 0, 1)
        P.select_scatter(f(3), d(), 0, 1)
        P.select_scatter(f(2,3), f(3), 0, -1)
        P.select_scatter(f(2,3), f(2), -1, 2)
        F.nll_loss(F.log_softmax(f(3,4)), i(4,3))
        F.nll_loss(F.log_softmax(f(3,4)), i(4,3,1))
        F.nll_loss(F.log_softmax(f(3,4)), i(4,1,3))
        F.nll_loss(F.log_softmax(f(3,4,2)), i(4,3,2))
        F.nll_loss(F.log_softmax(f(3,4,2)), i(4,3,2,1))
        F.nll_loss(F.log_softmax(f(3,4,2)), i(4,3,1,2))
        F.nll_loss(F.log_softmax(f(3,4,2,2)), i(4,3,2,2))
        F.nll_loss(F.log_softmax(f(3,4,2,2)), i(4,3,1,2,2))
        F.nll_loss(F.log_softmax(f(3,4,2,2)), i(4,3,2,2,1))
        F.nll_loss(F.log_softmax(f(3,4)), i(4,3,1), reduction='none')
        F.nll_loss(F.log_softmax(f(3,4,2)), i(4,3,2,1), reduction='none')
        F.nll_loss(F.log_softmax(f(3,4)), i(4,3,2))
        F.nll_loss(F.log_softmax(f(3,4)), i(4,2))
        F.nll_loss(F.log_softmax(f(4)), i(4))
        F.nll_loss(F.log_softmax(f(4)), i(4,1))
        F.nll_loss(F.log_softmax(f(3,4)), i(4,3).astype('int32'))
        F.nll_loss(F.log_softmax(f(3,4)), f(3))
        F.nll_loss(F.log_softmax(f(3,4)), P.to_tensor([0,5,1]))
        F.nll_loss(F.log_softmax(f(3,4)), P.to_tensor([0,-100,1]))
        F.nll_loss(F.log_softmax(f(3,4)), P.to_tensor([0,-1,1]))
        F.nll_loss(F.log_softmax(f(3,4)), i(4,3), weight=f(4))
        F.nll_loss(F.log_softmax(f(3,4)), i(4,3), weight=f(3))
        F.nll_loss(F.log_softmax(f(3,4)), i(4,3), reduction='x')
        F.cross_entropy(f(3,4), F.softmax(f(3,4)), soft_label=True)
        F.cross_entropy(f(3,4), F.softmax(f(1,4)), soft_label=True)
        F.cross_entropy(f(3,4), F.softmax(f(4)), soft_label=True)
        F.cross_entropy(f(1,4), F.softmax(f(3,4)), soft_label=True)
        F.cross_entropy(f(3,4), f(3,1), soft_label=True)
        F.cross_entropy(f(3,4), f(), soft_label=True)
        F.cross_entropy(f(2,3,4), F.softmax(f(1,3,4)), soft_label=True)
        F.cross_entropy(f(2,3,4), F.softmax(f(3,4)), soft_label=True)
        F.cross_entropy(f(3,4), F.softmax(f(3,4)), soft_label=True, reduction='none')
        F.cross_entropy(f(3,4), F.softmax(f(1,4)), soft_label=True, reduction='none')
        F.cross_entropy(f(3,4), F.softmax(f(3,5)), soft_label=True)
        F.cross_entropy(f(3,4), F.softmax(f(1,4)), soft_label=True, use_softmax=False)
        F.cross_entropy(f(3,4), F.softmax(d(3,4)), soft_label=True)
        F.cross_entropy(f(3,4), F.softmax(f(3,4)), soft_label=True, weight=f(4))
        F.cross_entropy(f(3,4), F.softmax(f(1,4)), soft_label=True, weight=f(4))
        F.cross_entropy(f(3,4), i(4,3,4), soft_label=True)
        F.softmax_with_cross_entropy(f(3,4), F.softmax(f(1,4)), soft_label=True)
        F.softmax_with_cross_entropy(f(3,4), F.softmax(f(3,4)), soft_label=True)
    """,
    "biases": r"""
        F.conv1d_transpose(f(1,2,5), f(2,3,2), f(1))
        F.conv1d_transpose(f(1,2,5), f(2,3,2), f(3))
        F.conv1d_transpose(f(1,2,5), f(2,3,2), f(2))
        F.conv1d_transpose(f(1,2,5), f(2,3,2), f(4))
        F.conv1d_transpose(f(1,2,5), f(2,3,2), f(6))
        F.conv1d_transpose(f(1,2,5), f(2,3,2), f())
        F.conv1d_transpose(f(1,2,5), f(2,3,2), f(1,3))
        F.conv1d_transpose(f(1,5,2), f(2,3,2), f(1), data_format='NLC')
        F.conv1d_transpose(f(1,5,2), f(2,3,2), f(3), data_format='NLC')
        F.conv2d_transpose(f(1,2,5,5), f(2,3,2,2), f(1))
        F.conv2d_transpose(f(1,2,5,5), f(2,3,2,2), f(2))
        F.conv2d_transpose(f(1,2,5,5), f(2,3,2,2), f(4))
        F.conv2d_transpose(f(1,2,5,5), f(2,3,2,2), f(6))
        F.conv2d_transpose(f(1,2,5,5), f(2,3,2,2), f(1,3))
        F.conv2d_transpose(f(1,2,5,5), f(2,3,2,2), f())
        F.conv3d_transpose(f(1,2,5,5,5), f(2,3,2,2,2), f(1))
        F.conv3d_transpose(f(1,2,5,5,5), f(2,3,2,2,2), f(2))
        F.conv1d(f(1,2,5), f(3,2,2), f(1))
        F.conv1d(f(1,2,5), f(3,2,2), f(2))
        F.conv1d(f(1,2,5), f(3,2,2), f(4))
        F.conv1d(f(1,2,5), f(3,2,2), f(6))
        F.conv1d(f(1,2,5), f(3,2,2), f())
        F.conv1d(f(1,2,5), f(3,2,2), f(3,1))
        F.conv1d(f(1,5,2), f(3,2,2), f(1), data_format='NLC')
        F.conv1d(f(1,5,2), f(3,2,2), f(4), data_format='NLC')
        F.conv2d(f(1,2,5,5), f(3,2,2,2), f(1))
        F.conv2d(f(1,2,5,5), f(3,2,2,2), f(2))
        F.conv2d(f(1,2,5,5), f(3,2,2,2), f(4))
        F.conv2d(f(1,2,5,5), f(3,2,2,2), f(6))
        F.conv2d(f(1,2,5,5), f(3,2,2,2), f())
        F.conv2d(f(1,2,5,5), f(3,2,2,2), f(4,4))
        F.conv2d(f(1,5,5,2), f(3,2,2,2), f(1), data_format='NHWC')
        F.conv2d(f(1,5,5,2), f(3,2,2,2), f(4), data_format='NHWC')
        F.conv2d(f(1,5,5,2), f(3,2,2,2), f(3), data_format='NHWC')
        F.conv3d(f(1,2,5,5,5), f(3,2,2,2,2), f(1))
        F.conv3d(f(1,2,5,5,5), f(3,2,2,2,2), f(2))
        F.conv3d(f(1,2,5,5,5), f(3,2,2,2,2), f(4))
        F.conv2d(f(1,2,5,5), f(2,1,2,2), f(1), groups=2)
        F.conv2d(f(1,2,5,5), f(2,1,2,2), f(3), groups=2)
        F.conv2d_transpose(f(1,2,5,5), f(2,1,2,2), f(1), groups=2)
        grads(F.conv2d, f(1,2,5,5), f(3,2,2,2), f(1))
        grads(F.conv1d, f(1,2,5), f(3,2,2), f(1))
        grads(F.conv1d_transpose, f(1,2,5), f(2,3,2), f(1))
        grads(F.conv2d_transpose, f(1,2,5,5), f(2,3,2,2), f(1))
        F.conv2d(f(1,2,5,5), f(3,2,2,2), d(3))
        F.linear(f(2,3), f(3,4), f(1))
        F.linear(f(2,3), f(3,4), f(3))
        F.linear(f(2,3), f(3,4), f())
        F.linear(f(2,3), f(3,4), f(2,4))
        F.bilinear(f(2,3), f(2,4), f(5,3,4), f(1))
        F.bilinear(f(2,3), f(2,4), f(5,3,4), f(1,5))
        F.bilinear(f(2,3), f(2,4), f(5,3,4), f(3))
    """,
}
