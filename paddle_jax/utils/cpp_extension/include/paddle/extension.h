// What C++ code of custom operators sees: Tensors in the memory of the CPU, and the declarations PD_BUILD_OP, PD_BUILD_GRAD_OP and
// PD_BUILD_DOUBLE_GRAD_OP. The names are those of Paddle's header; there are no operations on Tensors besides those that make new ones.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define PADDLE_WITH_PADDLE_JAX 1

#define PD_THROW(...) throw ::std::runtime_error(::paddle::detail::joined(__VA_ARGS__) + " [" + __FILE__ + ":" + ::std::to_string(__LINE__) + "]")
#define PD_CHECK(condition, ...) \
  do {                           \
    if (!(condition)) throw ::std::runtime_error(::paddle::detail::joined("check failed: " #condition " ", ##__VA_ARGS__)); \
  } while (false)

namespace paddle {

namespace detail {
template <typename... Parts>
std::string joined(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}
}  // namespace detail

// dtypes ----------------------------------------------------------------------------------------------------------------------------------

enum class DataType { UNDEFINED, BOOL, INT8, UINT8, INT16, INT32, INT64, FLOAT16, BFLOAT16, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128 };

template <typename T>
using complex = std::complex<T>;

inline size_t SizeOf(DataType dtype) {
  static const size_t sizes[] = {0, 1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return sizes[static_cast<int>(dtype)];
}

inline const char* NameOf(DataType dtype) {
  static const char* names[] = {"undefined", "bool",     "int8",    "uint8",   "int16",     "int32",     "int64",
                                "float16",   "bfloat16", "float32", "float64", "complex64", "complex128"};
  return names[static_cast<int>(dtype)];
}

inline std::ostream& operator<<(std::ostream& stream, DataType dtype) { return stream << NameOf(dtype); }

template <typename T>
struct CppTypeToDataType;
#define PD_TYPE(type, name)                                              \
  template <>                                                            \
  struct CppTypeToDataType<type> {                                       \
    static constexpr DataType Type() { return DataType::name; }          \
  };
PD_TYPE(bool, BOOL)
PD_TYPE(int8_t, INT8)
PD_TYPE(uint8_t, UINT8)
PD_TYPE(int16_t, INT16)
PD_TYPE(int32_t, INT32)
PD_TYPE(int64_t, INT64)
PD_TYPE(float, FLOAT32)
PD_TYPE(double, FLOAT64)
PD_TYPE(complex<float>, COMPLEX64)
PD_TYPE(complex<double>, COMPLEX128)
#undef PD_TYPE

// places ----------------------------------------------------------------------------------------------------------------------------------

enum class AllocationType { CPU, GPU };
enum class PlaceType { kUNK, kCPU, kGPU };

struct Place {
  Place() = default;
  Place(PlaceType) {}
  AllocationType GetType() const { return AllocationType::CPU; }
  bool operator==(const Place&) const { return true; }
  bool operator!=(const Place&) const { return false; }
};
struct CPUPlace : Place {};

// Tensors ---------------------------------------------------------------------------------------------------------------------------------

class Tensor {
 public:
  Tensor() = default;
  Tensor(const Place&, const std::vector<int64_t>& shape) : shape_(shape) {}
  Tensor(const std::vector<int64_t>& shape, DataType dtype) : shape_(shape) { allocate(dtype); }
  Tensor(const std::vector<int64_t>& shape, DataType dtype, void* memory) : shape_(shape), dtype_(dtype), data_(memory, [](void*) {}) {}

  const std::vector<int64_t>& shape() const { return shape_; }
  int64_t numel() const {
    int64_t count = 1;
    for (int64_t length : shape_) count *= length;
    return count;
  }
  int64_t size() const { return numel(); }
  DataType dtype() const { return dtype_; }
  DataType type() const { return dtype_; }
  Place place() const { return Place(); }
  bool is_cpu() const { return true; }
  bool is_gpu() const { return false; }
  bool is_dense_tensor() const { return true; }
  bool defined() const { return data_ != nullptr; }
  bool initialized() const { return data_ != nullptr; }
  bool is_initialized() const { return data_ != nullptr; }
  void reshape(const std::vector<int64_t>& shape) { shape_ = shape; }

  const void* data() const { return data_.get(); }
  void* data() { return data_.get(); }
  template <typename T>
  const T* data() const {
    check<T>();
    return static_cast<const T*>(data_.get());
  }
  template <typename T>
  T* data() {
    check<T>();
    return static_cast<T*>(data_.get());
  }
  template <typename T>
  T* mutable_data() {
    if (!data_) allocate(CppTypeToDataType<T>::Type());
    return data<T>();
  }
  template <typename T>
  T* mutable_data(const Place&) {
    return mutable_data<T>();
  }
  Tensor copy_to(const Place&, bool = true) const {
    Tensor other(shape_, dtype_);
    if (numel()) std::memcpy(other.data(), data(), numel() * SizeOf(dtype_));
    return other;
  }
  template <typename T>
  Tensor copy_to(const Place& place) const {
    return copy_to(place);
  }

 private:
  template <typename T>
  void check() const {
    if (dtype_ != CppTypeToDataType<T>::Type())
      throw std::runtime_error(detail::joined("data: got ", CppTypeToDataType<T>::Type(), " for a Tensor of dtype ", dtype_));
  }
  void allocate(DataType dtype) {
    dtype_ = dtype;
    data_ = std::shared_ptr<void>(::operator new(std::max<size_t>(1, numel() * SizeOf(dtype))), [](void* memory) { ::operator delete(memory); });
  }

  std::vector<int64_t> shape_;
  DataType dtype_ = DataType::UNDEFINED;
  std::shared_ptr<void> data_;
};

template <typename T>
struct optional : std::optional<T> {
  using std::optional<T>::optional;
  bool is_initialized() const { return this->has_value(); }
  const T& get() const { return this->value(); }
  T& get() { return this->value(); }
  const T* get_ptr() const { return this->has_value() ? &this->value() : nullptr; }
};
inline constexpr std::nullopt_t none = std::nullopt;

// dispatch by dtype -----------------------------------------------------------------------------------------------------------------------

#define PD_CASE(name, ctype, ...)                 \
  case ::paddle::DataType::name: {                \
    using data_t [[maybe_unused]] = ctype;        \
    __VA_ARGS__();                                \
    break;                                        \
  }
#define PD_CHOOSE(dtype, what, cases)                                                                     \
  do {                                                                                                    \
    const ::paddle::DataType pd_dtype_ = (dtype);                                                         \
    switch (pd_dtype_) {                                                                                  \
      cases default : PD_THROW("function \"", what, "\" is not implemented for data type `", pd_dtype_, "`"); \
    }                                                                                                     \
  } while (false)
#define PD_FLOATS(...) PD_CASE(FLOAT32, float, __VA_ARGS__) PD_CASE(FLOAT64, double, __VA_ARGS__)
#define PD_INTS(...)                                                                                              \
  PD_CASE(UINT8, uint8_t, __VA_ARGS__)                                                                            \
  PD_CASE(INT8, int8_t, __VA_ARGS__)                                                                              \
  PD_CASE(INT16, int16_t, __VA_ARGS__) PD_CASE(INT32, int32_t, __VA_ARGS__) PD_CASE(INT64, int64_t, __VA_ARGS__)
#define PD_COMPLEXES(...) \
  PD_CASE(COMPLEX64, ::paddle::complex<float>, __VA_ARGS__) PD_CASE(COMPLEX128, ::paddle::complex<double>, __VA_ARGS__)
#define PD_DISPATCH_FLOATING_TYPES(dtype, what, ...) PD_CHOOSE(dtype, what, PD_FLOATS(__VA_ARGS__))
#define PD_DISPATCH_INTEGRAL_TYPES(dtype, what, ...) PD_CHOOSE(dtype, what, PD_INTS(__VA_ARGS__))
#define PD_DISPATCH_COMPLEX_TYPES(dtype, what, ...) PD_CHOOSE(dtype, what, PD_COMPLEXES(__VA_ARGS__))
#define PD_DISPATCH_FLOATING_AND_INTEGRAL_TYPES(dtype, what, ...) PD_CHOOSE(dtype, what, PD_FLOATS(__VA_ARGS__) PD_INTS(__VA_ARGS__))
#define PD_DISPATCH_FLOATING_AND_COMPLEX_TYPES(dtype, what, ...) PD_CHOOSE(dtype, what, PD_FLOATS(__VA_ARGS__) PD_COMPLEXES(__VA_ARGS__))
#define PD_DISPATCH_FLOATING_AND_INTEGRAL_AND_COMPLEX_TYPES(dtype, what, ...) \
  PD_CHOOSE(dtype, what, PD_FLOATS(__VA_ARGS__) PD_INTS(__VA_ARGS__) PD_COMPLEXES(__VA_ARGS__))

// making Tensors --------------------------------------------------------------------------------------------------------------------------

inline Tensor empty(const std::vector<int64_t>& shape, DataType dtype = DataType::FLOAT32, const Place& = Place()) { return Tensor(shape, dtype); }

inline Tensor empty_like(const Tensor& x, DataType dtype = DataType::UNDEFINED, const Place& = Place()) {
  return Tensor(x.shape(), dtype == DataType::UNDEFINED ? x.dtype() : dtype);
}

inline Tensor full(const std::vector<int64_t>& shape, double value, DataType dtype = DataType::FLOAT32, const Place& = Place()) {
  Tensor made(shape, dtype);
  if (dtype == DataType::BOOL) {
    std::fill_n(made.data<bool>(), made.numel(), value != 0);
  } else {
    PD_DISPATCH_FLOATING_AND_INTEGRAL_AND_COMPLEX_TYPES(dtype, "full", [&] { std::fill_n(made.data<data_t>(), made.numel(), static_cast<data_t>(value)); });
  }
  return made;
}

inline Tensor full_like(const Tensor& x, double value, DataType dtype = DataType::UNDEFINED, const Place& = Place()) {
  return full(x.shape(), value, dtype == DataType::UNDEFINED ? x.dtype() : dtype);
}
inline Tensor zeros(const std::vector<int64_t>& shape, DataType dtype = DataType::FLOAT32, const Place& = Place()) { return full(shape, 0, dtype); }
inline Tensor ones(const std::vector<int64_t>& shape, DataType dtype = DataType::FLOAT32, const Place& = Place()) { return full(shape, 1, dtype); }
inline Tensor zeros_like(const Tensor& x, DataType dtype = DataType::UNDEFINED, const Place& = Place()) { return full_like(x, 0, dtype); }
inline Tensor ones_like(const Tensor& x, DataType dtype = DataType::UNDEFINED, const Place& = Place()) { return full_like(x, 1, dtype); }

// declarations ----------------------------------------------------------------------------------------------------------------------------

inline std::string Grad(const std::string& name) { return name + "@GRAD"; }
inline std::string Vec(const std::string& name) { return name + "@VECTOR"; }
inline std::string Optional(const std::string& name) { return name + "@OPTIONAL"; }

namespace detail {

// A request is text: how many values each input has (-1: none was given), what is asked about them, and the attributes, by spaces.
class Request {
 public:
  explicit Request(const std::string& text) : stream_(text) {}
  template <typename T>
  T next() {
    if constexpr (std::is_same_v<T, std::string>) {
      std::string text(next<size_t>(), '\0');
      stream_.get();
      stream_.read(text.data(), static_cast<std::streamsize>(text.size()));
      return text;
    } else if constexpr (std::is_floating_point_v<T>) {  // streams do not read inf and nan
      std::string word;
      stream_ >> word;
      return static_cast<T>(std::stod(word));
    } else {
      T value{};
      stream_ >> value;
      return value;
    }
  }
  template <typename T>
  std::vector<T> list() {
    std::vector<T> values(next<size_t>());
    for (T& value : values) value = next<T>();
    return values;
  }

 private:
  std::istringstream stream_;
};

template <typename Value>
struct Arguments {  // Value: a Tensor, a shape or a dtype
  std::vector<std::optional<std::vector<Value>>> inputs;
  Request* attributes;
  size_t used = 0;
};

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};

template <typename T, typename Value>
T taken(Arguments<Value>& from) {
  if (from.used < from.inputs.size()) {
    auto& values = from.inputs[from.used++];
    if constexpr (std::is_same_v<T, Value>) {
      if (!values) throw std::runtime_error("got None for an input that is not paddle::Optional");
      return values->at(0);
    } else if constexpr (std::is_same_v<T, std::vector<Value>>) {
      return values ? *values : std::vector<Value>();
    } else if constexpr (std::is_same_v<T, optional<Value>>) {
      return values ? T(values->at(0)) : T();
    } else {
      throw std::runtime_error("an argument of the function has another type than its input");
    }
  }
  if constexpr (std::is_same_v<T, Value> && !std::is_same_v<T, std::vector<int64_t>>) {
    throw std::runtime_error("the function has more arguments than inputs and attributes");
  } else if constexpr (std::is_same_v<T, std::vector<Value>> && !std::is_same_v<T, std::vector<int64_t>>) {
    throw std::runtime_error("the function has more arguments than inputs and attributes");
  } else if constexpr (std::is_same_v<T, optional<Value>>) {
    throw std::runtime_error("the function has more arguments than inputs and attributes");
  } else if constexpr (IsVector<T>::value) {
    return from.attributes->template list<typename T::value_type>();
  } else {
    return from.attributes->template next<T>();
  }
}

template <typename Value, typename Result, typename... Args>
std::function<Result(Arguments<Value>&)> wrapped(Result (*function)(Args...)) {
  static_assert(!(std::is_same_v<Args, Tensor&> || ...), "a kernel must not change its inputs here: take const paddle::Tensor& and return a new Tensor");
  return [function](Arguments<Value>& from) {
    std::tuple<std::decay_t<Args>...> values{taken<std::decay_t<Args>, Value>(from)...};
    return std::apply(function, values);
  };
}

using Shape = std::vector<int64_t>;
using Kernel = std::function<std::vector<Tensor>(Arguments<Tensor>&)>;
using ShapeRule = std::function<std::vector<Shape>(Arguments<Shape>&)>;
using TypeRule = std::function<std::vector<DataType>(Arguments<DataType>&)>;

struct Operator {
  std::vector<std::string> inputs, outputs, attributes;
  Kernel kernel;
  ShapeRule shapes;
  TypeRule types;
};

inline std::map<std::string, Operator>& operators() {
  static std::map<std::string, Operator> all;
  return all;
}

template <typename T>
struct Never : std::false_type {};

}  // namespace detail

class OpMetaInfoBuilder {
 public:
  explicit OpMetaInfoBuilder(const std::string& name) : made_(&detail::operators()[name]) {}
  OpMetaInfoBuilder& Inputs(std::vector<std::string> names) { return set(made_->inputs, std::move(names)); }
  OpMetaInfoBuilder& Outputs(std::vector<std::string> names) { return set(made_->outputs, std::move(names)); }
  OpMetaInfoBuilder& Attrs(std::vector<std::string> texts) { return set(made_->attributes, std::move(texts)); }
  OpMetaInfoBuilder& SetKernelFn(detail::Kernel kernel) { return set(made_->kernel, std::move(kernel)); }
  OpMetaInfoBuilder& SetInferShapeFn(detail::ShapeRule rule) { return set(made_->shapes, std::move(rule)); }
  OpMetaInfoBuilder& SetInferDtypeFn(detail::TypeRule rule) { return set(made_->types, std::move(rule)); }
  template <typename T>
  OpMetaInfoBuilder& SetInplaceMap(T&&) {
    static_assert(detail::Never<T>::value, "SetInplaceMap: Tensors do not change in place here: return a new Tensor");
    return *this;
  }

 private:
  template <typename T>
  OpMetaInfoBuilder& set(T& where, T value) {
    where = std::move(value);
    return *this;
  }
  detail::Operator* made_;
};

}  // namespace paddle

#define PD_KERNEL(function) ::paddle::detail::wrapped<::paddle::Tensor>(&function)
#define PD_INFER_SHAPE(function) ::paddle::detail::wrapped<::paddle::detail::Shape>(&function)
#define PD_INFER_DTYPE(function) ::paddle::detail::wrapped<::paddle::DataType>(&function)
#define PD_BUILD_OP(name) [[maybe_unused]] static ::paddle::OpMetaInfoBuilder pd_op_##name = ::paddle::OpMetaInfoBuilder(#name)
#define PD_BUILD_GRAD_OP(name) [[maybe_unused]] static ::paddle::OpMetaInfoBuilder pd_op_##name##_grad = ::paddle::OpMetaInfoBuilder(#name "_grad")
#define PD_BUILD_DOUBLE_GRAD_OP(name) \
  [[maybe_unused]] static ::paddle::OpMetaInfoBuilder pd_op_##name##_grad_grad = ::paddle::OpMetaInfoBuilder(#name "_grad_grad")
