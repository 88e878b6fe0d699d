// Operators for tests of paddle.utils.cpp_extension.
#include <cmath>
#include <vector>

#include "paddle/extension.h"

using paddle::Tensor;
using Shape = std::vector<int64_t>;

// y = x^3 with its first two derivatives -----------------------------------------------------------------------------
std::vector<Tensor> Cube(const Tensor& x) {
  auto y = paddle::empty_like(x);
  PD_DISPATCH_FLOATING_TYPES(x.type(), "cube", ([&] {
                               const data_t* px = x.data<data_t>();
                               data_t* py = y.data<data_t>();
                               for (int64_t i = 0; i < x.numel(); ++i) py[i] = px[i] * px[i] * px[i];
                             }));
  return {y};
}
std::vector<Tensor> CubeGrad(const Tensor& x, const Tensor& grad_y) {
  auto grad_x = paddle::empty(x.shape(), x.dtype(), x.place());
  PD_DISPATCH_FLOATING_TYPES(x.type(), "cube_grad", ([&] {
                               for (int64_t i = 0; i < x.numel(); ++i)
                                 grad_x.data<data_t>()[i] = 3 * x.data<data_t>()[i] * x.data<data_t>()[i] * grad_y.data<data_t>()[i];
                             }));
  return {grad_x};
}
std::vector<Tensor> CubeGradGrad(const Tensor& x, const Tensor& grad_y, const Tensor& grad_grad_x) {
  auto grad_of_x = paddle::empty_like(x), grad_of_grad_y = paddle::empty_like(x);
  PD_DISPATCH_FLOATING_TYPES(x.type(), "cube_grad_grad", ([&] {
                               for (int64_t i = 0; i < x.numel(); ++i) {
                                 data_t value = x.data<data_t>()[i], given = grad_grad_x.data<data_t>()[i];
                                 grad_of_x.data<data_t>()[i] = 6 * value * grad_y.data<data_t>()[i] * given;
                                 grad_of_grad_y.data<data_t>()[i] = 3 * value * value * given;
                               }
                             }));
  return {grad_of_x, grad_of_grad_y};
}
std::vector<Shape> SameShape(Shape x) { return {x}; }
std::vector<paddle::DataType> SameDtype(paddle::DataType x) { return {x}; }

PD_BUILD_OP(cube).Inputs({"X"}).Outputs({"Y"}).SetKernelFn(PD_KERNEL(Cube)).SetInferShapeFn(PD_INFER_SHAPE(SameShape)).SetInferDtypeFn(
    PD_INFER_DTYPE(SameDtype));
PD_BUILD_GRAD_OP(cube).Inputs({"X", paddle::Grad("Y")}).Outputs({paddle::Grad("X")}).SetKernelFn(PD_KERNEL(CubeGrad));
PD_BUILD_DOUBLE_GRAD_OP(cube)
    .Inputs({"X", paddle::Grad("Y"), paddle::Grad(paddle::Grad("X"))})
    .Outputs({paddle::Grad("X"), paddle::Grad(paddle::Grad("Y"))})
    .SetKernelFn(PD_KERNEL(CubeGradGrad));

// out = scale * x * (x > 0 ? 1 : slope), total = its sum; the attribute is one of the gradient's, too -------------------
std::vector<Tensor> Leaky(const Tensor& x, float slope, double scale) {
  auto out = paddle::empty_like(x), total = paddle::zeros({1}, x.dtype());
  PD_DISPATCH_FLOATING_TYPES(x.type(), "leaky", ([&] {
                               for (int64_t i = 0; i < x.numel(); ++i) {
                                 data_t value = x.data<data_t>()[i];
                                 out.data<data_t>()[i] = static_cast<data_t>(scale * (value > 0 ? value : slope * value));
                                 total.data<data_t>()[0] += out.data<data_t>()[i];
                               }
                             }));
  return {out, total};
}
std::vector<Tensor> LeakyGrad(const Tensor& x, const Tensor& out, const Tensor& grad_out, const Tensor& grad_total, float slope, double scale) {
  auto grad = paddle::empty_like(x);
  PD_DISPATCH_FLOATING_TYPES(x.type(), "leaky_grad", ([&] {
                               for (int64_t i = 0; i < x.numel(); ++i) {
                                 double given = grad_out.data<data_t>()[i] + grad_total.data<data_t>()[0];
                                 grad.data<data_t>()[i] = static_cast<data_t>(scale * given * (x.data<data_t>()[i] > 0 ? 1.0 : slope));
                               }
                             }));
  return {grad};
}
std::vector<Shape> LeakyShapes(Shape x, float slope, double scale) { return {x, {1}}; }
std::vector<paddle::DataType> LeakyTypes(paddle::DataType x) { return {x, x}; }
PD_BUILD_OP(leaky)
    .Inputs({"X"})
    .Outputs({"Out", "Total"})
    .Attrs({"slope: float", "scale: double"})
    .SetKernelFn(PD_KERNEL(Leaky))
    .SetInferShapeFn(PD_INFER_SHAPE(LeakyShapes))
    .SetInferDtypeFn(PD_INFER_DTYPE(LeakyTypes));
PD_BUILD_GRAD_OP(leaky)
    .Inputs({"X", "Out", paddle::Grad("Out"), paddle::Grad("Total")})
    .Outputs({paddle::Grad("X")})
    .Attrs({"slope: float", "scale: double"})
    .SetKernelFn(PD_KERNEL(LeakyGrad));

// every kind of input and attribute; the result counts what arrived ------------------------------------------------------
std::vector<Tensor> Everything(const std::vector<Tensor>& many, const paddle::optional<Tensor>& maybe, bool flag, int whole, int64_t large,
                               const std::string& text, const std::vector<int>& ints, const std::vector<float>& floats,
                               const std::vector<int64_t>& larges, const std::vector<std::string>& texts) {
  auto out = paddle::zeros({12}, paddle::DataType::FLOAT64);
  double* p = out.data<double>();
  p[0] = static_cast<double>(many.size());
  for (const auto& x : many) p[1] += static_cast<double>(x.numel());
  p[2] = maybe ? static_cast<double>(maybe.get().numel()) : -1;
  p[3] = flag, p[4] = whole, p[5] = static_cast<double>(large), p[6] = static_cast<double>(text.size());
  for (int v : ints) p[7] += v;
  for (float v : floats) p[8] += v;
  for (int64_t v : larges) p[9] += static_cast<double>(v);
  for (const auto& v : texts) p[10] = p[10] * 100 + static_cast<double>(v.size());
  p[11] = text == "two words; \xc3\xa9";
  return {out};
}
std::vector<Shape> EverythingShape(const std::vector<Shape>& many, const paddle::optional<Shape>& maybe) { return {{12}}; }
std::vector<paddle::DataType> EverythingType(const std::vector<paddle::DataType>& many, const paddle::optional<paddle::DataType>& maybe) {
  return {paddle::DataType::FLOAT64};
}
PD_BUILD_OP(everything)
    .Inputs({paddle::Vec("Many"), paddle::Optional("Maybe")})
    .Outputs({"Out"})
    .Attrs({"flag: bool", "whole: int", "large: int64_t", "text: std::string", "ints: std::vector<int>", "floats: std::vector<float>",
            "larges: std::vector<int64_t>", "texts: std::vector<std::string>"})
    .SetKernelFn(PD_KERNEL(Everything))
    .SetInferShapeFn(PD_INFER_SHAPE(EverythingShape))
    .SetInferDtypeFn(PD_INFER_DTYPE(EverythingType));

// the sum of a list, with an integer weight; gradients of single inputs only ---------------------------------------------
std::vector<Tensor> Weighted(const Tensor& x, const Tensor& count, const paddle::optional<Tensor>& shift) {
  auto out = x.copy_to(x.place(), true);
  for (int64_t i = 0; i < x.numel(); ++i)
    out.data<float>()[i] = x.data<float>()[i] * static_cast<float>(count.data<int64_t>()[i]) + (shift ? shift.get().data<float>()[i] : 0);
  return {out};
}
std::vector<Tensor> WeightedGrad(const Tensor& count, const paddle::optional<Tensor>& shift, const Tensor& grad_out) {
  auto grad = paddle::empty_like(grad_out);
  for (int64_t i = 0; i < grad.numel(); ++i) grad.data<float>()[i] = grad_out.data<float>()[i] * static_cast<float>(count.data<int64_t>()[i]);
  return {grad};
}
std::vector<Shape> WeightedShape(Shape x, Shape count, const paddle::optional<Shape>& shift) { return {x}; }
std::vector<paddle::DataType> WeightedType(paddle::DataType x, paddle::DataType count, const paddle::optional<paddle::DataType>& shift) { return {x}; }
PD_BUILD_OP(weighted)
    .Inputs({"X", "Count", paddle::Optional("Shift")})
    .Outputs({"Out"})
    .SetKernelFn(PD_KERNEL(Weighted))
    .SetInferShapeFn(PD_INFER_SHAPE(WeightedShape))
    .SetInferDtypeFn(PD_INFER_DTYPE(WeightedType));
PD_BUILD_GRAD_OP(weighted)
    .Inputs({"Count", paddle::Optional("Shift"), paddle::Grad("Out")})
    .Outputs({paddle::Grad("X")})
    .SetKernelFn(PD_KERNEL(WeightedGrad));

// another shape; no gradient ----------------------------------------------------------------------------------------------
std::vector<Tensor> Repeated(const Tensor& x, int times) {
  Shape shape = x.shape();
  shape[0] *= times;
  auto out = paddle::empty(shape, x.dtype());
  PD_DISPATCH_FLOATING_AND_INTEGRAL_TYPES(x.type(), "repeated", ([&] {
                                            for (int64_t i = 0; i < out.numel(); ++i) out.data<data_t>()[i] = x.data<data_t>()[i % x.numel()];
                                          }));
  return {out};
}
std::vector<Shape> RepeatedShape(Shape x, int times) {
  x[0] *= times;
  return {x};
}
PD_BUILD_OP(repeated)
    .Inputs({"X"})
    .Outputs({"Out"})
    .Attrs({"times: int"})
    .SetKernelFn(PD_KERNEL(Repeated))
    .SetInferShapeFn(PD_INFER_SHAPE(RepeatedShape))
    .SetInferDtypeFn(PD_INFER_DTYPE(SameDtype));

// what is wrong ------------------------------------------------------------------------------------------------------------
std::vector<Tensor> Short(const Tensor& x) { return {paddle::ones({1}, x.dtype())}; }
PD_BUILD_OP(wrong_shape).Inputs({"X"}).Outputs({"Out"}).SetKernelFn(PD_KERNEL(Short));
std::vector<Shape> Refused(Shape x) {
  PD_CHECK(x.size() == 2, "x has ", x.size(), " axes; it must have 2");
  return {x};
}
PD_BUILD_OP(matrices_only).Inputs({"X"}).Outputs({"Out"}).SetKernelFn(PD_KERNEL(Cube)).SetInferShapeFn(PD_INFER_SHAPE(Refused)).SetInferDtypeFn(
    PD_INFER_DTYPE(SameDtype));
