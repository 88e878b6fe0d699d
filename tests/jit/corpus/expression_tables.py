"""Expressions that become model files, by the descriptions of their inputs x, y, z: letter of the dtype and
shape, -1 for any length.

BOTH are written by the real Paddle and read here, and the other way round. READ, MORE and WRITE go one way
only: for READ and WRITE the other way has no form, MORE are less usual.
"""

BOTH = {
    "f(-1,3)": """
        paddle.abs(x) ;; paddle.acos(x) ;; paddle.acosh(x) ;; paddle.asin(x) ;; paddle.asinh(x) ;;
        paddle.atan(x) ;; paddle.atanh(x) ;;
        paddle.ceil(x) ;; paddle.cos(x) ;; paddle.cosh(x) ;; paddle.digamma(x) ;; paddle.erf(x) ;;
        paddle.exp(x) ;; paddle.expm1(x) ;;
        paddle.floor(x) ;; paddle.lgamma(x) ;; paddle.log(x) ;; paddle.log10(x) ;; paddle.log1p(x) ;;
        paddle.log2(x) ;; paddle.logit(x) ;;
        paddle.neg(x) ;; paddle.reciprocal(x) ;; paddle.round(x) ;; paddle.rsqrt(x) ;; paddle.sgn(x) ;;
        paddle.sigmoid(x) ;; paddle.sign(x) ;;
        paddle.sin(x) ;; paddle.sinh(x) ;; paddle.sqrt(x) ;; paddle.square(x) ;; paddle.stanh(x) ;;
        paddle.tan(x) ;; paddle.tanh(x) ;;
        paddle.trunc(x) ;; paddle.frac(x) ;; paddle.isfinite(x) ;; paddle.isinf(x) ;; paddle.isnan(x) ;;
        paddle.deg2rad(x) ;;
        paddle.rad2deg(x) ;; paddle.i0(x) ;; paddle.i0e(x) ;; paddle.i1(x) ;; paddle.i1e(x) ;; F.celu(x) ;;
        F.elu(x) ;; F.gelu(x) ;;
        F.hardshrink(x) ;; F.hardsigmoid(x) ;; F.hardswish(x) ;; F.hardtanh(x) ;; F.leaky_relu(x) ;;
        F.log_sigmoid(x) ;; F.relu(x) ;;
        F.relu6(x) ;; F.selu(x) ;; F.sigmoid(x) ;; F.silu(x) ;; F.softplus(x) ;; F.softshrink(x) ;;
        F.softsign(x) ;; F.swish(x) ;; F.mish(x) ;;
        F.tanhshrink(x) ;; F.thresholded_relu(x) ;; F.log_softmax(x) ;; F.softmax(x) ;;
        F.gelu(x,approximate=True) ;; F.softmax(x,axis=0) ;;
        F.celu(x,2.0) ;; F.leaky_relu(x,0.3) ;; paddle.clip(x,-0.5,0.5) ;; paddle.clip(x,min=0.1) ;;
        F.maxout(paddle.reshape(x,[-1,3,1,1]),3) ;; F.glu(paddle.concat([x,x],1)) ;; F.hardtanh(x,-0.3,0.3) ;;
        x+1 ;; 1-x ;; x*2 ;; 2/x ;;
        x/2 ;; x**2 ;; x**0.5 ;; x//2 ;; x%2 ;; -x ;; x>0 ;; x==0 ;; 1+x*3.5 ;; paddle.scale(x,2.,1.,False) ;;
        x.astype("int64") ;;
        x.astype("float64") ;; x.astype("bool") ;; paddle.cast(x,"float16") ;; x.astype("int32")+1 ;;
        paddle.pow(x,3) ;; x.clone() ;;
        paddle.gammaln(paddle.abs(x)+1) ;; paddle.polygamma(x,1) ;; F.label_smooth(x) ;;
        F.swiglu(paddle.concat([x,x],1)) ;;
        paddle.assign(x) ;; paddle.nan_to_num(x) ;; paddle.full_like(x,3) ;; paddle.zeros_like(x) ;;
        paddle.ones_like(x,dtype="int32") ;;
    """,
    "f(-1,3) f(-1,3)": """
        x+y ;; x-y ;; x*y ;; x/y ;; x**y ;; x==y ;; x!=y ;; x<y ;; x<=y ;; x>y ;; x>=y ;;
        paddle.maximum(x,y) ;; paddle.minimum(x,y) ;;
        paddle.fmax(x,y) ;; paddle.fmin(x,y) ;; paddle.atan2(x,y) ;; paddle.hypot(x,y) ;;
        paddle.lerp(x,y,0.3) ;; paddle.dist(x,y) ;;
        paddle.cross(x,y,axis=1) ;; paddle.heaviside(x,y) ;; paddle.copysign(x,y) ;; paddle.allclose(x,y) ;;
        paddle.isclose(x,y) ;;
        paddle.equal_all(x,y) ;; F.cosine_similarity(x,y) ;; F.mse_loss(x,y) ;; F.l1_loss(x,y) ;;
        F.smooth_l1_loss(x,y) ;;
        F.pairwise_distance(x,y) ;; paddle.nextafter(x,y) ;;
        F.log_loss(F.sigmoid(x[:,:1]),F.sigmoid(y[:,:1])) ;; F.swiglu(x,y) ;; paddle.logaddexp(x,y) ;;
        paddle.kron(x,y) ;; paddle.where(x>y,x,y) ;;
        F.binary_cross_entropy_with_logits(x,y) ;; F.binary_cross_entropy(F.sigmoid(x),F.sigmoid(y)) ;;
        paddle.bitwise_and(x>0,y>0) ;;
        F.kl_div(x,F.softmax(y)) ;; F.kl_div(x,y,"batchmean",True) ;;
    """,
    "b(-1,3) b(-1,3)": """
        paddle.logical_and(x,y) ;; paddle.logical_or(x,y) ;; paddle.logical_xor(x,y) ;; x & y ;;
    """,
    "i(-1,3) i(-1,3)": """
        x+y ;; x*y ;; paddle.bitwise_and(x,y) ;; paddle.bitwise_or(x,y) ;; paddle.bitwise_xor(x,y) ;;
        paddle.bitwise_left_shift(x,y) ;; x/y ;;
        paddle.bitwise_right_shift(-x,y,is_arithmetic=False) ;;
    """,
    "f(-1,3,4)": """
        paddle.sum(x) ;; paddle.sum(x,axis=1) ;; paddle.sum(x,axis=[0,-1],keepdim=True) ;; paddle.mean(x) ;;
        paddle.mean(x,axis=1) ;;
        paddle.mean(x,axis=[0,-1],keepdim=True) ;; paddle.max(x) ;; paddle.max(x,axis=1) ;;
        paddle.max(x,axis=[0,-1],keepdim=True) ;;
        paddle.min(x) ;; paddle.min(x,axis=1) ;; paddle.min(x,axis=[0,-1],keepdim=True) ;; paddle.prod(x) ;;
        paddle.prod(x,axis=1) ;;
        paddle.prod(x,axis=[0,-1],keepdim=True) ;; paddle.amax(x) ;; paddle.amax(x,axis=1) ;;
        paddle.amax(x,axis=[0,-1],keepdim=True) ;;
        paddle.amin(x) ;; paddle.amin(x,axis=1) ;; paddle.amin(x,axis=[0,-1],keepdim=True) ;;
        paddle.logsumexp(x) ;;
        paddle.logsumexp(x,axis=1) ;; paddle.logsumexp(x,axis=[0,-1],keepdim=True) ;; paddle.std(x,1) ;;
        paddle.var(x,axis=[1,2],keepdim=True) ;; paddle.norm(x) ;; paddle.norm(x,p=2,axis=1) ;;
        paddle.norm(x,p=1,axis=-1,keepdim=True) ;;
        paddle.norm(x,p=float("inf"),axis=1) ;; paddle.nansum(x) ;; paddle.nanmean(x,1) ;;
        paddle.count_nonzero(x) ;; paddle.cumsum(x,1) ;;
        paddle.cumsum(x) ;; paddle.cumprod(x,1) ;; paddle.cummax(x,1) ;; paddle.cummin(x,1) ;;
        paddle.logcumsumexp(x,1) ;; paddle.argmax(x) ;;
        paddle.argmax(x,axis=1,keepdim=True) ;; paddle.argmin(x,axis=-1) ;;
        paddle.argsort(x,axis=1,descending=True) ;;
        paddle.sort(x,axis=-1) ;; paddle.topk(x,2,axis=-1) ;; paddle.topk(x,2,axis=1,largest=False) ;;
        paddle.kthvalue(x,2,1) ;;
        paddle.mode(x,1) ;; F.normalize(x,axis=1) ;; paddle.renorm(x,2.0,0,1.0) ;; paddle.numel(x) ;;
        paddle.shape(x) ;;
        paddle.reshape(x,[-1,12]) ;; paddle.reshape(x,[0,-1]) ;;
        x.reshape([x.shape[0],x.shape[1]*x.shape[2]]) ;; paddle.flatten(x,1) ;;
        paddle.flatten(x) ;; paddle.transpose(x,[2,0,1]) ;; x.transpose([0,2,1]) ;;
        paddle.squeeze(x.unsqueeze(1),1) ;;
        paddle.unsqueeze(x,[0,-1]) ;; paddle.concat([x,x],0) ;; paddle.concat([x,x*2],axis=-1) ;;
        paddle.stack([x,x],1) ;;
        paddle.split(x,2,axis=2) ;; paddle.split(x,[1,-1],axis=1) ;; paddle.chunk(x,2,axis=-1) ;;
        paddle.unbind(x,1) ;;
        paddle.unstack(x,axis=2) ;; paddle.tile(x,[2,1,1]) ;; paddle.expand(x,[2,-1,3,4]) ;;
        paddle.expand(x.unsqueeze(0),[2,x.shape[0],3,4]) ;; paddle.broadcast_to(x[:,:1],[x.shape[0],3,4]) ;;
        paddle.expand_as(x[:,:,:1],x) ;;
        paddle.flip(x,[1]) ;; paddle.roll(x,1,1) ;; paddle.repeat_interleave(x,2,1) ;; paddle.tril(x) ;;
        paddle.triu(x,1) ;;
        paddle.diagonal(x,0,1,2) ;; paddle.diag_embed(x) ;; paddle.moveaxis(x,0,1) ;;
        paddle.swapaxes(x,0,2) ;;
        paddle.index_select(x,paddle.to_tensor([0,2]),axis=1) ;;
        paddle.gather(x,paddle.to_tensor([0,2]),axis=1) ;;
        paddle.gather_nd(x,paddle.to_tensor([[0,1],[0,2]])) ;;
        paddle.take_along_axis(x,paddle.argsort(x,1),1) ;;
        paddle.put_along_axis(x,paddle.argsort(x,1)[:,:1],1.0,1) ;; paddle.crop(x,[-1,2,2],[0,1,1]) ;;
        paddle.slice(x,[1,2],[0,1],[2,3]) ;;
        paddle.strided_slice(x,[1,2],[0,0],[3,4],[1,2]) ;; F.pad(x,[1,2],data_format="NCL") ;;
        F.pad(x,[0,0,1,1,0,2]) ;;
        paddle.meshgrid(x[0,0],x[0,1]) ;; paddle.trace(x,0,1,2) ;; paddle.bmm(x,x.transpose([0,2,1])) ;;
        paddle.matmul(x,x,transpose_y=True) ;;
        paddle.einsum("bij,bkj->bik",x,x) ;; paddle.einsum("bij->bj",x) ;; paddle.atleast_2d(x) ;;
        paddle.unflatten(x,2,[2,2]) ;;
        paddle.searchsorted(paddle.sort(x,-1),x) ;; paddle.bucketize(x,paddle.to_tensor([0.,1.])) ;;
        paddle.index_add(x,paddle.to_tensor([0,1]),1,x[:,:2]) ;;
        paddle.scatter(x[0],paddle.to_tensor([0,1]),x[0][:2]) ;;
        paddle.scatter_nd_add(x[0],paddle.to_tensor([[0],[1]]),x[0][:2]) ;;
        paddle.scatter_nd(paddle.to_tensor([[0],[1]]),x[0][:2],[5,4]) ;;
        paddle.index_put(x,[paddle.to_tensor([0])],paddle.to_tensor(1.0)) ;; paddle.masked_fill(x,x>0,0.5) ;;
        paddle.add_n([x,x,x]) ;;
        paddle.addmm(x[0,:,:3],x[0],x[0].t()) ;; paddle.mv(x[0],x[0,0]) ;; paddle.dot(x[0,0],x[0,1]) ;;
        paddle.outer(x[0,0],x[0,1]) ;;
        paddle.as_complex(x[...,:2]) ;; paddle.fft.fft(x) ;; paddle.fft.rfft(x) ;;
        F.temporal_shift(paddle.reshape(x,[-1,4,3,1]),1) ;; x[0] ;;
        x[:,1] ;; x[:,0:2] ;; x[:,::2] ;; x[...,-1] ;; x[:,None] ;; x[:,[0,2]] ;; x[0,1,2] ;; x[:,:,::-1] ;;
        x[1:] ;; x[:-1] ;;
        x[:,paddle.to_tensor([0,1])] ;; x[0:x.shape[0]-1] ;;
        paddle.cumsum(x,1,dtype="float64") ;; F.softmax(x,dtype="float64") ;;
        paddle.prod(x,1,dtype="float64") ;; paddle.sum(x>0,1) ;;
        paddle.topk(x,2,sorted=False) ;; paddle.roll(x,[1,2],[1,2]) ;; paddle.squeeze(x[:1,:1]) ;;
        paddle.searchsorted(paddle.sort(x,-1),x,True,True) ;;
        paddle.baddbmm(x[:,:,:3],x,x.transpose([0,2,1]),0.5,2.0) ;; paddle.histogram(x,10,-1,1) ;;
        paddle.reduce_as(x,x[0]) ;;
        paddle.signal.frame(x,2,1) ;; paddle.signal.overlap_add(x.transpose([0,2,1]),2) ;;
        F.bilinear(x[:,:,0],x[:,:,1],paddle.ones([2,3,3])) ;;
    """,
    "f(-1,-1,4)": """
        x*x.shape[1] ;; paddle.expand(x[:,:1],[x.shape[0],x.shape[1],4]) ;; x[:,:x.shape[1]//2] ;; 
        F.scaled_dot_product_attention(x.unsqueeze(2),x.unsqueeze(2),x.unsqueeze(2)) ;;
        F.dropout(x,0.5,training=False) ;;
        F.dropout(x,0.5,training=False,mode="downscale_in_infer") ;; F.layer_norm(x,4) ;;
        F.linear(x,paddle.ones([4,2]),paddle.zeros([2])) ;;
        F.alpha_dropout(x,0.5,training=False) ;;
    """,
    "f(-1,4,8,8)": """
        F.avg_pool2d(x,2) ;; F.max_pool2d(x,3,2,1) ;; F.max_pool2d(x,3,2,1,ceil_mode=True) ;;
        F.avg_pool2d(x,3,2,1,exclusive=False) ;;
        F.avg_pool2d(x,3,2,1,exclusive=True) ;; F.adaptive_avg_pool2d(x,1) ;;
        F.adaptive_avg_pool2d(x,[3,2]) ;; F.adaptive_max_pool2d(x,3) ;;
        F.max_pool2d(x,2,return_mask=True) ;; F.interpolate(x,scale_factor=2) ;;
        F.interpolate(x,size=[5,7],mode="bilinear") ;; F.interpolate(x,size=[1,3],mode="bilinear") ;;
        F.interpolate(x,size=[5,7],mode="bilinear",align_corners=True) ;;
        F.interpolate(x,scale_factor=2,mode="bicubic") ;;
        F.interpolate(x,size=[3,3],mode="area") ;; F.upsample(x,scale_factor=2) ;; F.pixel_shuffle(x,2) ;;
        F.pixel_unshuffle(x,2) ;;
        F.channel_shuffle(x,2) ;; F.pad(x,[1,1,2,2]) ;; F.pad(x,[1,1,2,2],mode="reflect") ;;
        F.pad(x,[1,1,2,2],mode="replicate",value=0.) ;;
        F.unfold(x,3,1,1) ;; F.local_response_norm(x,3) ;; F.instance_norm(x) ;; F.group_norm(x,2) ;;
        F.conv2d(x,paddle.ones([2,4,3,3])) ;;
        F.conv2d_transpose(x,paddle.ones([4,2,3,3]),stride=2,padding=1,output_padding=1) ;;
        F.conv2d(x,paddle.ones([4,1,3,3]),padding="SAME",groups=4) ;;
        F.conv2d(x,paddle.ones([4,2,3,3]),padding=[1,2],groups=2,dilation=2,stride=2) ;;
        F.dropout2d(x,training=False) ;;
        F.zeropad2d(x,[1,1,1,1]) ;; F.lp_pool2d(x,2.0,2) ;; F.softmax(x,1) ;;
        F.interpolate(x,size=[x.shape[2]*2,x.shape[3]*2],mode="nearest") ;; F.prelu(x,paddle.full([4],0.2)) ;;
        F.rrelu(x,training=False) ;;
        F.normalize(x) ;; paddle.flatten(x,1,-1) ;; F.avg_pool2d(x,2,data_format="NHWC") ;;
        F.conv2d(x,paddle.ones([2,8,3,3]),data_format="NHWC") ;; F.max_pool2d(x,2,padding="SAME") ;;
        x.mean([2,3],keepdim=True) ;;
        x[:,:2]*F.sigmoid(x[:,2:]) ;;
    """,
    "f(-1,4,8)": """
        F.avg_pool1d(x,2) ;; F.max_pool1d(x,2) ;; F.adaptive_avg_pool1d(x,2) ;; F.adaptive_max_pool1d(x,2) ;;
        F.conv1d(x,paddle.ones([2,4,3]),padding=1) ;; F.conv1d_transpose(x,paddle.ones([4,2,3])) ;;
        F.interpolate(x,size=[5],mode="linear") ;;
        F.pad(x,[1,1],mode="circular",data_format="NCL") ;;
    """,
    "f(-1,2,4,4,4)": """
        F.avg_pool3d(x,2) ;; F.max_pool3d(x,2) ;; F.adaptive_avg_pool3d(x,1) ;;
        F.conv3d(x,paddle.ones([2,2,3,3,3]),padding=1) ;;
        F.conv3d_transpose(x,paddle.ones([2,2,2,2,2]),stride=2) ;;
        F.interpolate(x,scale_factor=2,mode="trilinear",data_format="NCDHW") ;;
        F.pad(x,[1,1,1,1,1,1],data_format="NCDHW") ;;
    """,
    "f(-1,5) i(-1,1)": """
        F.cross_entropy(x,y) ;; F.cross_entropy(x,y,reduction="none") ;; F.softmax_with_cross_entropy(x,y) ;;
        paddle.index_sample(x,y) ;;
        paddle.take_along_axis(x,y,1) ;; paddle.put_along_axis(x,y,1.0,1) ;;
    """,
    "f(3,3)": """
        paddle.inverse(x) ;; paddle.linalg.det(x) ;; paddle.linalg.slogdet(x) ;; paddle.linalg.svd(x) ;;
        paddle.linalg.qr(x) ;;
        paddle.linalg.eigh(x+x.t()) ;;
        paddle.linalg.cholesky(paddle.matmul(x,x,transpose_y=True)+paddle.eye(3)*5) ;;
        paddle.linalg.solve(x,x) ;; paddle.linalg.matrix_power(x,2) ;; paddle.linalg.triangular_solve(x,x) ;;
        paddle.linalg.multi_dot([x,x,x]) ;; paddle.t(x) ;; paddle.diag(x) ;; paddle.diag(x[0]) ;;
        paddle.mm(x,x) ;; paddle.tril(x,-1) ;;
        paddle.linalg.norm(x) ;; paddle.linalg.eigvalsh(x+x.t()) ;; paddle.linalg.svdvals(x) ;;
        paddle.linalg.eigvals(x+x.t()) ;;
    """,
    "c(-1,3)": """
        paddle.real(x) ;; paddle.imag(x) ;; paddle.conj(x) ;; paddle.angle(x) ;; paddle.abs(x) ;;
        paddle.as_real(x) ;; x*x ;;
        paddle.complex(paddle.real(x),paddle.imag(x)) ;; paddle.fft.ifft(x) ;; paddle.fft.irfft(x) ;;
        paddle.fft.fft2(x) ;;
    """,
}
READ = {
    "f(-1,3,4)": """
        paddle.median(x,1) ;; paddle.quantile(x,0.5,1) ;;
        paddle.diff(x) ;; paddle.rot90(x,1,[1,2]) ;; paddle.cdist(x,x) ;;
    """,
    "f(-1,-1,4)": """
        F.label_smooth(x) ;;
    """,
    "f(-1,4,8,8)": """
        F.max_unpool2d(*F.max_pool2d(x,2,return_mask=True),2) ;; F.avg_pool2d(x,2,divisor_override=3) ;;
    """,
    "f(-1,5) i(-1,1)": """
        F.nll_loss(F.log_softmax(x),y.squeeze(-1)) ;; paddle.metric.accuracy(x,y) ;;
        F.cross_entropy(x,y.squeeze(-1),label_smoothing=0.1) ;;
        F.sigmoid_focal_loss(x,F.one_hot(y.squeeze(-1),5)) ;;
    """,
    "f(3,3)": """
        paddle.linalg.pinv(x) ;; paddle.linalg.lu(x) ;; paddle.linalg.cond(x) ;;
        paddle.linalg.matrix_rank(x) ;; paddle.linalg.cov(x) ;;
    """,
}
WRITE = {
    "f(-1,3) f(-1,3)": """
        paddle.inner(x,y) ;;
    """,
    "f(-1,3)": """
        F.gelu(x,"tanh") ;; F.gelu(x,"none") ;; paddle.add(x,x,alpha=2) ;; paddle.flatten(x[0,0]) ;;
        paddle.mean(x,1,dtype="float64") ;;
    """,
    "b(-1,3) b(-1,3)": """
        paddle.logical_not(x) ;; paddle.any(x) ;; paddle.all(x,axis=1) ;; ~x ;;
    """,
    "i(-1,3) i(-1,3)": """
        paddle.bitwise_not(x) ;; x.sum() ;; paddle.max(x,1) ;; F.one_hot(x,10) ;; x.astype("float32") ;;
    """,
    "f(-1,3,4)": """
        paddle.view(x,[-1,12]) ;; paddle.multiplex([x[:,0],x[:,1]],paddle.zeros([x.shape[0],1],"int32")) ;;
        paddle.rank(x) ;;
    """,
    "f(-1,-1,4)": """
        x.reshape([x.shape[0],x.shape[1]*2,-1]) ;; paddle.arange(x.shape[1]) ;;
        paddle.arange(0,x.shape[1],2,dtype="float32") ;;
        paddle.zeros([x.shape[0],2]) ;; paddle.full([x.shape[0],x.shape[1]],1.5) ;;
        paddle.ones([x.shape[1]],"int64") ;;
        paddle.full([2,3],2.0) ;; paddle.linspace(0,1,5) ;; paddle.eye(3) ;;
        paddle.tril(paddle.ones([x.shape[1],x.shape[1]])) ;;
        paddle.meshgrid(paddle.arange(x.shape[0]),paddle.arange(x.shape[1])) ;;
        x+paddle.arange(x.shape[1]).astype("float32").unsqueeze(-1) ;;
        paddle.assign(np.array([1.,2.],"float32")) ;; paddle.to_tensor([1.,2.]) ;;
        paddle.to_tensor(np.arange(12).reshape(3,4)) ;;
        paddle.tril_indices(3,3,0) ;; paddle.tile(paddle.arange(x.shape[1]),[x.shape[0],1]) ;;
        paddle.gather(x,paddle.arange(x.shape[1])*0,axis=1) ;;
    """,
    "f(-1,4,8,8)": """
        F.affine_grid(paddle.ones([2,2,3]),[2,4,5,5]) ;;
        F.grid_sample(x,paddle.zeros([1,3,3,2]).expand([x.shape[0],3,3,2])) ;;
    """,
    "f(-1,5) i(-1,1)": """
        F.embedding(y,paddle.ones([10,3])) ;; F.embedding(y,paddle.ones([10,3]),padding_idx=1) ;;
        F.one_hot(y.squeeze(-1),5) ;;
    """,
}

MORE = {
    "f(-1,3,4)": """
        F.sequence_mask(x[:,0,0].astype("int64")+4,maxlen=5) ;;
        paddle.all(x>0,axis=1) ;; paddle.any(x>0) ;; ~(x>0) ;; paddle.rot90(x,1,[1,2]) ;;
        paddle.tril_indices(3,3,0)+x[0,0,0].astype("int64") ;; paddle.full_like(x,2) ;;
        paddle.linspace(0,1,5)+x[0,0,0] ;;
        paddle.logspace(0,1,5)+x[0,0,0] ;; paddle.eye(4)+x[0,0] ;; paddle.diagflat(x[0,0]) ;;
        paddle.nanmedian(x,1) ;;
        paddle.vander(x[0,0],3) ;; paddle.trapezoid(x) ;;
        paddle.sinc(x) ;; paddle.ldexp(x,(x>0).astype("int32")) ;;
        paddle.isreal(x) ;; paddle.block_diag([x[0],x[1]]) ;;
        paddle.cartesian_prod([x[0,0],x[0,1]]) ;; paddle.hsplit(x,[1]) ;; paddle.column_stack([x[0],x[1]]) ;;
        paddle.hstack([x,x]) ;;
        paddle.vstack([x,x]) ;; paddle.dstack([x,x]) ;; paddle.take(x,paddle.to_tensor([0,3])) ;;
        paddle.slice_scatter(x,x[:,:1],[1],[0],[1],[1]) ;; paddle.diagonal_scatter(x[0],x[0,:,0],0) ;;
        paddle.index_fill(x,paddle.to_tensor([0]),1,2.0) ;; paddle.pdist(x[0]) ;; paddle.atleast_3d(x[0]) ;;
        paddle.subtract(x,x[0]) ;; paddle.signal.stft(paddle.flatten(x,1),4) ;;
        paddle.linalg.vector_norm(x,3.0,1) ;; paddle.linalg.matrix_norm(x,"fro",[1,2]) ;;
        paddle.linalg.corrcoef(x[0]) ;; F.swiglu(x) ;;
        F.npair_loss(x[0],x[0],x[0,:,0]) ;; F.dice_loss(F.softmax(x[0]),paddle.zeros([3,1],"int64")) ;;
        F.square_error_cost(x,x+1) ;; F.poisson_nll_loss(x,paddle.abs(x)) ;;
        F.gaussian_nll_loss(x,x,paddle.abs(x)+1) ;; F.soft_margin_loss(x,paddle.sign(x)) ;;
        F.multi_margin_loss(x[0],paddle.zeros([3],"int64")) ;; F.triplet_margin_loss(x,x+1,x-1) ;;
        F.cosine_embedding_loss(x[0],x[0],paddle.ones([3])) ;;
        F.multi_label_soft_margin_loss(x[0],paddle.ones([3,4])) ;;
        F.ctc_loss(x.transpose([1,0,2]),paddle.ones([2,2],"int32"),paddle.full([2],3,"int64"),
                   paddle.full([2],2,"int64")) ;;
        F.hsigmoid_loss(x[0],paddle.zeros([3,1],"int64"),4,paddle.ones([3,4])) ;;
        F.pairwise_distance(x,x+1) ;;
        paddle.as_real(paddle.fft.fft(x)) ;; paddle.fft.fftshift(x) ;; paddle.fft.hfft(x) ;;
        paddle.polar(paddle.abs(x),x) ;;
        paddle.multiply(x,x) ;; paddle.floor_mod(x,x+2) ;; paddle.clip(x,x.min(),x.max()) ;;
        paddle.renorm(x,2.0,1,1.0) ;;
        paddle.mean(x,[]) ;; x.mT ;; x.cast("bfloat16").cast("float32") ;;
        F.scaled_dot_product_attention(x.unsqueeze(2),x.unsqueeze(2),x.unsqueeze(2),is_causal=True) ;;
        F.fold(F.unfold(paddle.ones([1,2,4,4])*x[0,0,0],2,2),4,2,2) ;; paddle.crop(x,[2,2,2]) ;;
        paddle.shard_index(paddle.ones([3,1],"int64")*2,10,2,0)+x[0,0,0].astype("int64") ;;
    """,
    "f(-1,4,8,8)": """
        F.adaptive_max_pool2d(x,2,return_mask=True) ;; F.local_response_norm(x,5) ;;
        F.affine_grid(x[:,:2,0,:3],[2,4,5,5]) ;;
        F.grid_sample(x,paddle.tanh(x[:,:2].transpose([0,2,3,1])),mode="nearest",padding_mode="border") ;;
        F.max_pool3d(x.unsqueeze(1),2,return_mask=True) ;;
        F.max_unpool3d(*F.max_pool3d(x.unsqueeze(1),2,return_mask=True),2) ;;
        F.pixel_shuffle(x.transpose([0,2,3,1]),2,"NHWC") ;; F.lp_pool1d(x[:,:,0],2.0,2) ;;
        F.adaptive_avg_pool3d(x.unsqueeze(1),[2,4,4]) ;;
        F.adaptive_max_pool3d(x.unsqueeze(1),2) ;; paddle.nn.functional.rrelu(x,training=False) ;;
        F.conv2d(x,paddle.ones([2,4,3,3]),padding=[1,0,2,1]) ;; F.avg_pool2d(x,3,1,[1,0,0,1]) ;;
        F.interpolate(x,scale_factor=[2,1.5],mode="bilinear",align_mode=1) ;;
        F.conv2d_transpose(x,paddle.ones([4,2,3,3]),stride=2,output_size=[17,18]) ;;
        F.dropout3d(x.unsqueeze(2),training=False) ;;
        F.thresholded_relu(x,0.5,0.1) ;; F.alpha_dropout(x,0.1,training=False) ;;
    """,
}

# shapes that depend on values
VALUES = """
    paddle.unique(x) ;; paddle.nonzero(x) ;; paddle.masked_select(x,x>0) ;; paddle.where(x>0) ;; x[x>0] ;;
    paddle.bincount((x>0).astype("int64").flatten())
"""

LAYERS = {
    "f(-1,8)": """
        nn.Linear(8,3) ;; nn.Sequential(nn.Linear(8,4),nn.ReLU(),nn.Linear(4,2),nn.Softmax()) ;;
        nn.BatchNorm1D(8) ;; nn.LayerNorm(8) ;;
        nn.Linear(8,3,bias_attr=False) ;; nn.Dropout() ;; nn.PReLU()
    """,
    "f(-1,4,8,8)": """
        nn.Conv2D(4,6,3) ;; nn.Conv2D(4,4,3,padding=1,groups=4) ;; nn.Conv2DTranspose(4,3,2,2) ;;
        nn.Conv2DTranspose(4,4,3,2,groups=4) ;;
        nn.BatchNorm2D(4) ;; nn.InstanceNorm2D(4) ;; nn.GroupNorm(2,4) ;; nn.Conv2D(4,6,3,padding="valid") ;;
        nn.Conv2D(4,6,3,padding=1,padding_mode="reflect") ;; nn.Upsample(scale_factor=2,mode="bilinear") ;;
        nn.LocalResponseNorm(3) ;;
        nn.BatchNorm2D(4,use_global_stats=True) ;; nn.AdaptiveAvgPool2D(1) ;; nn.ChannelShuffle(2) ;;
        nn.UpsamplingNearest2D(scale_factor=2)
    """,
    "f(-1,4,8)": """
        nn.Conv1D(4,3,3) ;; nn.Conv1DTranspose(4,3,3) ;; nn.BatchNorm1D(4) ;; nn.InstanceNorm1D(4) ;;
        nn.RNN(nn.LSTMCell(8,6)) ;;
        nn.BiRNN(nn.GRUCell(8,6),nn.GRUCell(8,6)) ;;
        nn.TransformerEncoder(nn.TransformerEncoderLayer(8,2,16),2)
    """,
    "f(-1,-1,8)": """
        nn.LSTM(8,6) ;; nn.GRU(8,6,2,direction="bidirect") ;; nn.SimpleRNN(8,6) ;;
        nn.LSTM(8,6,2,direction="bidirect") ;;
        nn.TransformerEncoderLayer(8,2,16) ;; nn.MultiHeadAttention(8,2)
    """,
    "f(-1,2,4,4,4)": "nn.Conv3D(2,3,2) ;; nn.Conv3DTranspose(2,3,2) ;; nn.BatchNorm3D(2)",
    "i(-1,5)": "nn.Embedding(10,4) ;; nn.Embedding(10,4,padding_idx=0) ;; "
    "nn.Sequential(nn.Embedding(10,8),nn.Linear(8,2))",
}
