"""Expressions that Paddle saves as several operations, or as one with attributes of its own, by the
descriptions of their inputs as in `expression_tables.py`."""

# A call on 5 rows makes `jit.save` refuse it, which tries 5 rows, too.
GCD = 'paddle.gcd((x*9).astype("int64"),paddle.full([4],6,"int64"))'

DECOMPOSED = {
    "f(-1,3,4)": """
        paddle.median(x,1) ;; paddle.median(x,1,mode="min") ;; paddle.nanmedian(x,[1,2]) ;;
        paddle.quantile(x,0.3,1) ;; paddle.quantile(x,[0.2,0.7],[1,2],keepdim=True) ;;
        paddle.nanquantile(paddle.where(x>1,x*float("nan"),x),0.4,2) ;; paddle.kthvalue(x,2) ;;
        paddle.diff(x) ;; paddle.diff(x,2,0) ;; paddle.diff(x>0,axis=1) ;;
        paddle.trapezoid(x,paddle.sort(x[0,0])) ;; paddle.cumulative_trapezoid(x,dx=0.5,axis=0) ;;
        paddle.rot90(x,1,[1,2]) ;; paddle.vander(x[0,0],None,True) ;; paddle.isin(x,x[0,0]) ;;
        paddle.take(x,paddle.to_tensor([[0,-3]])) ;; paddle.index_fill(x,paddle.to_tensor([0,2]),1,2.0) ;;
        paddle.masked_scatter(x,x>0,x*2) ;;
        paddle.put_along_axis(x,paddle.argsort(x,1)[:,:1],x[:,:1],1,"amax") ;;
        paddle.put_along_axis(x,paddle.argsort(x,1)[:,:2],x[:,:2],1,"mean",False) ;; paddle.cdist(x,x) ;;
        paddle.block_diag([x[0],x[1],x[0,0]]) ;; paddle.tensordot(x,x[0],[[1,2],[0,1]]) ;;
        paddle.inner(x,x[0]) ;; paddle.linalg.cov(x[0]) ;; paddle.histogramdd(x[...,:2],3) ;;
        paddle.fft.fft(x,6) ;; paddle.fft.rfft2(x,[2,6]) ;; paddle.fft.irfft(x,5) ;;
        paddle.fft.fftshift(x) ;; paddle.slice_scatter(x,x[:,:,:2],[2],[0],[4],[2]) ;;
        paddle.tensor_split(x,[1,3],2) ;; paddle.cummax(x) ;; paddle.cumprod(x) ;; x.unfold(2,2,1) ;;
        paddle.linalg.vector_norm(x,0.0,[0,2],True) ;;
        x[:,paddle.to_tensor([0,2]),paddle.to_tensor([1,1])] ;; x[:,:,paddle.to_tensor([[0],[2]])] ;;
        x[paddle.to_tensor([0,1]),:,paddle.to_tensor([1,2])] ;; F.pad(x,[1,2,0,1]) ;;
        paddle.nn.functional.local_response_norm(x,3) ;;
        F.sequence_mask((x[:,0,0]*0+2).astype("int64"),5) ;;
        paddle.geometric.segment_mean(x,paddle.arange(x.shape[0])//2) ;; paddle.atan2(x,x[0]) ;;
        paddle.copysign(x,x[0].astype("float64")) ;; paddle.einsum("...ij,...kj->...ik",x,x[0]) ;;
        paddle.einsum("...ii->...i",x[:,:,:3]) ;; F.sigmoid_focal_loss(x,(x>0).astype("float32")) ;;
        F.ctc_loss(x.transpose([1,0,2]), (x[:,0,:2]*0+1).astype("int32"),
            (x[:,0,0]*0+3).astype("int64"),(x[:,0,0]*0+1).astype("int64"))
    """,
    "f(2,3,4)": """
        paddle.median(x) ;; paddle.quantile(x,0.4,interpolation="nearest") ;;
        paddle.quantile(x,0.4,1,interpolation="midpoint") ;; paddle.diff(x,1,1,x[:,:1],x[:,:2]) ;;
        paddle.trapezoid(x) ;; paddle.rot90(x,2,[0,2]) ;; paddle.rot90(x,-1,[0,1]) ;;
        paddle.vander(x[0,0],3) ;; paddle.isin(x,x[0],invert=True) ;;
        paddle.take(x,paddle.to_tensor([99,-99]),"wrap") ;;
        paddle.take(x,paddle.to_tensor([9999]),"clip") ;; paddle.index_fill(x,paddle.to_tensor([0]),0,2) ;;
        paddle.scatter_reduce(x,1,paddle.argsort(x,1)[:,:2],x,"amin") ;; paddle.cdist(x,x+1,1.0) ;;
        paddle.ldexp(x,(x>0).astype("int32")) ;; paddle.frexp(x) ;; paddle.polar(paddle.abs(x),x) ;;
        paddle.sinc(x) ;; paddle.signbit(x) ;; paddle.isreal(x) ;; paddle.isposinf(x) ;;
        paddle.isneginf(x) ;; paddle.lcm((x*9).astype("int32"),paddle.full([1],6,"int32")) ;;
        paddle.gammainc(paddle.abs(x)+1,paddle.abs(x)+1) ;;
        paddle.gammaincc(paddle.abs(x)+1,paddle.abs(x)+1) ;; paddle.multigammaln(paddle.abs(x)+3,2) ;;
        paddle.cartesian_prod([x[0,0],x[0,1]]) ;; paddle.inner(x,x[0,0]) ;; paddle.vecdot(x,x) ;;
        paddle.diagflat(x[0]) ;; paddle.linalg.corrcoef(x[0]) ;; paddle.linalg.cov(x[0],False,False) ;;
        paddle.histogram_bin_edges(x,4) ;; paddle.histogramdd(x[...,:2],[2,3],[-1.,1.,-1.,1.],True) ;;
        paddle.fft.ifftshift(x,[0,1]) ;; paddle.select_scatter(x,x[:,0],1,-1) ;;
        paddle.diagonal_scatter(x[0],x[0,:,0]) ;; paddle.strided_slice(x,[2],[3],[-9],[-2]) ;;
        paddle.cummin(x) ;; paddle.linalg.vector_norm(x,3.0,[1,2]) ;; paddle.linalg.matrix_norm(x,"nuc") ;;
        paddle.linalg.matrix_norm(x,1,[2,0],True) ;; paddle.linalg.norm(x,axis=[0,2]) ;;
        paddle.linalg.norm(x,keepdim=True) ;; paddle.linalg.vector_norm(x,dtype="float64") ;;
        paddle.linalg.norm(paddle.complex(x,x),1) ;; paddle.meshgrid(x[0,0],x[0,1],x[0,2],indexing="xy") ;;
        (x>0).astype("int64")*0.5 ;; paddle.divide(x,x+3,rounding_mode="trunc") ;;
        paddle.divide(x,x+3,rounding_mode="floor") ;; F.lp_pool1d(x,2.0,2) ;;
        paddle.shard_index((x[0,:,:1]*0+7).astype("int64"),9,4,1) ;; paddle.scale(x,2.,act="relu") ;;
        paddle.tanh((x>0).astype("int64")) ;; paddle.polygamma(paddle.abs(x)+1,0) ;;
        paddle.hypot((x>0).astype("int64"),(x>1).astype("int64")) ;; paddle.renorm(x,2.0,-1,1.0) ;;
        paddle.std(x[0],[]) ;; F.cosine_similarity(x,x[0],axis=-1) ;;
        paddle.einsum("i j, j k -> i k",x[0],x[0].t()) ;; paddle.einsum("i,j,j",x[0,0],x[0,1],x[0,2]) ;;
        F.hinge_embedding_loss(x,paddle.sign(x)) ;; F.soft_margin_loss(x,paddle.sign(x)) ;;
        F.margin_ranking_loss(x,x+1,paddle.sign(x),0.5,"none") ;;
        F.triplet_margin_loss(x,x+1,x-1,swap=True) ;;
        F.triplet_margin_with_distance_loss(x[0],x[0]+1,x[0]-1,swap=True) ;;
        F.cosine_embedding_loss(x[0],x[0]+1,paddle.to_tensor([1,-1,1])) ;;
        F.multi_label_soft_margin_loss(x,(x>0).astype("float32")) ;;
        F.poisson_nll_loss(x,paddle.abs(x),full=True) ;; F.gaussian_nll_loss(x,x+1,paddle.abs(x)+1,True) ;;
        F.smooth_l1_loss(x,x*3,delta=0.5) ;; F.smooth_l1_loss(x,x*3,"none",2.,is_huber=False) ;;
        F.binary_cross_entropy(F.sigmoid(x),(x>0).astype("float32"),paddle.abs(x)) ;;
        F.binary_cross_entropy_with_logits(x,(x>0).astype("float32"),x[0],pos_weight=paddle.abs(x[0])) ;;
        F.npair_loss(x[0],x[0]+1,x[0,:,0])
    """,
    "f(-1,4,8,8)": """
        F.fold(F.unfold(x,2,2),8,2,2) ;; F.max_unpool2d(*F.max_pool2d(x,2,return_mask=True),2) ;;
        F.max_unpool1d(*F.max_pool1d(x[:,:,0],2,return_mask=True),2) ;;
        F.max_unpool3d(*F.max_pool3d(x.unsqueeze(1),2,return_mask=True),2) ;;
        F.interpolate(x,[4,5],mode="bilinear",antialias=True) ;;
        F.flash_attention.flash_attention(x,x,x,causal=True,return_softmax=True) ;;
        F.interpolate(x,None,[0.6,1.7],mode="bicubic",antialias=True) ;;
        F.avg_pool2d(x,2,divisor_override=3) ;; F.local_response_norm(x,3,data_format="NHWC") ;;
        F.conv2d_transpose(x,paddle.ones([4,2,3,3]),stride=2,output_size=[17,18]) ;;
        F.conv1d_transpose(x[:,0],paddle.ones([8,2,3]),stride=2,output_size=[18]) ;;
        F.interpolate(x,scale_factor=1.3,mode="bilinear",recompute_scale_factor=True) ;; F.pad(x,[1,2]) ;;
        F.scaled_dot_product_attention(x,x[:,:,:4],x[:,:,:4]) ;;
        F.fractional_max_pool2d(x,3,random_u=.3,return_mask=True) ;;
        paddle.vision.ops.deform_conv2d(x,paddle.concat([x,x,x,x,x[:,:2]],1)*.3,paddle.ones([2,4,3,3]),
                                        padding=1)
    """,
    "f(-1,5) i(-1,1)": """
        F.nll_loss(F.log_softmax(x),y.squeeze(-1)) ;;
        F.nll_loss(F.log_softmax(x),y.squeeze(-1),paddle.arange(5).astype("float32"),2) ;;
        F.cross_entropy(x,y.squeeze(-1),label_smoothing=0.1) ;; F.cross_entropy(x,y,ignore_index=1) ;;
        F.cross_entropy(x,y.squeeze(-1),paddle.arange(5).astype("float32")) ;;
        F.cross_entropy(x,F.softmax(x),soft_label=True) ;;
        F.cross_entropy(F.softmax(x),y,use_softmax=False) ;;
        F.cross_entropy(x.t(),y.t(),axis=0,reduction="none") ;;
        F.dice_loss(F.softmax(x),y) ;; F.multi_margin_loss(x,y.squeeze(-1),2) ;;
        F.multi_label_margin_loss(x,paddle.concat([y,y-1,y,y,y],1)) ;;
        F.hsigmoid_loss(x,y,6,paddle.ones([5,5]),paddle.ones([5])) ;;
        F.adaptive_log_softmax_with_loss(x,y.squeeze(-1),paddle.ones([5,3]),
                                         [[paddle.ones([5,2]),paddle.ones([2,2])]],[2,4]) ;;
        F.embedding(y,x[0].unsqueeze(-1),scale_grad_by_freq=True)
    """,
    "f(-1,-1) f(-1,-1)": """
        paddle.pdist(paddle.stack([x[0],y[0],x[1]])) ;;
        paddle.where(x>y,x,y) ;; paddle.lerp(x,y,0.3) ;; F.cosine_similarity(x,y) ;; F.kl_div(x,y) ;;
        paddle.take_along_axis(x,paddle.argsort(y,1),1) ;; paddle.stack([x,y]) ;; paddle.concat([x,y],1) ;;
        paddle.put_along_axis(x,paddle.argsort(y,1),1.0,1) ;; paddle.tensordot(x,y,[[0,1],[0,1]]) ;;
        F.smooth_l1_loss(x,y,delta=0.4) ;; paddle.dist(x,y) ;; paddle.inner(x,y) ;; paddle.cdist(x,y)
    """,
    "f(4,4)": """
        F.prelu(x,x[0],data_format="NC") ;; paddle.linalg.qr(x,"r") ;; paddle.linalg.pinv(x) ;;
        paddle.linalg.pinv(x+x.t(),hermitian=True) ;; paddle.linalg.lu(x) ;;
        paddle.linalg.lu_unpack(*paddle.linalg.lu(x)) ;; paddle.linalg.lu_solve(x,*paddle.linalg.lu(x+1)) ;;
        paddle.linalg.lstsq(x[:,:2],x[:,2:],driver="gelsd") ;; paddle.linalg.cond(x) ;;
        paddle.linalg.cond(x,"fro") ;; paddle.linalg.cond(x,"nuc") ;; paddle.linalg.cond(x,-1) ;;
        paddle.linalg.matrix_rank(x) ;; paddle.linalg.matrix_rank(x,0.5) ;;
        paddle.linalg.matrix_rank(x,atol=0.3,rtol=0.1) ;; paddle.linalg.matrix_exp(x) ;;
        paddle.linalg.householder_product(x.clone(),x[0]) ;; paddle.linalg.ormqr(x.clone(),x[0],x) ;;
        paddle.linalg.cholesky_solve(x,paddle.eye(4)+0.1*paddle.tril(x)) ;;
        paddle.linalg.cholesky_inverse(paddle.eye(4)+0.1*paddle.tril(x)) ;;
        paddle.linalg.solve(x,x+1,left=False) ;; paddle.pdist(x) ;;
        paddle.linalg.cross(x[:3],x[1:]) ;; paddle.as_strided(x,[2,3],[3,2]) ;;
        F.gather_tree(paddle.ones([3,2,2],"int64"),paddle.zeros([3,2,2],"int64"))+(x[0,0]*0).astype("int64")
    """,
    "f(-1,16)": """
        paddle.signal.stft(x,4) ;; paddle.signal.stft(x,8,3,6,paddle.ones([6]),False,onesided=False) ;;
        paddle.signal.istft(paddle.signal.stft(x,4,2),4,2) ;; paddle.signal.stft(x,4,2,normalized=True)
    """,
    "c(-1,3)": """
        paddle.sgn(x) ;; paddle.linalg.norm(x) ;; paddle.isreal(x) ;; paddle.fft.ifft(x,4) ;;
        paddle.vecdot(x,x)
    """,
    # random numbers of which only one is possible
    "f(-1,3)": """
        paddle.bernoulli(x*0+1) ;; paddle.poisson(x*0) ;; paddle.normal(x,x*0) ;; paddle.randn(x.shape)*0 ;;
        paddle.randint(3,4,[2,x.shape[0]]) ;; paddle.randperm(1)+x.astype("int64") ;;
        paddle.multinomial(paddle.concat([x*0,x*0+1],1)[:,2:4],1) ;;
        paddle.standard_gamma(paddle.abs(x)+1)*0 ;;
        paddle.binomial((x*0+2).astype("int64"),x*0+1) ;; F.dropout2d(x.unsqueeze(-1).unsqueeze(-1),1.0)
    """,
}
