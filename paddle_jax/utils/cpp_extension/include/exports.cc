// What Python and XLA call in a library of custom operators: a description of them, the rules for shapes and dtypes, and the kernels.
#include "paddle/extension.h"
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;
using paddle::DataType;
using paddle::Tensor;
namespace detail = paddle::detail;

namespace {

const std::pair<ffi::DataType, DataType> kTypes[] = {
    {ffi::PRED, DataType::BOOL}, {ffi::S8, DataType::INT8}, {ffi::U8, DataType::UINT8}, {ffi::S16, DataType::INT16},
    {ffi::S32, DataType::INT32}, {ffi::S64, DataType::INT64}, {ffi::F16, DataType::FLOAT16}, {ffi::BF16, DataType::BFLOAT16},
    {ffi::F32, DataType::FLOAT32}, {ffi::F64, DataType::FLOAT64}, {ffi::C64, DataType::COMPLEX64}, {ffi::C128, DataType::COMPLEX128},
};

DataType known(ffi::DataType type) {
  for (auto [theirs, ours] : kTypes)
    if (theirs == type) return ours;
  throw std::runtime_error("a dtype that custom operators do not know");
}

std::string listed(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

Tensor seen(const ffi::AnyBuffer& buffer) {
  auto lengths = buffer.dimensions();
  return Tensor(std::vector<int64_t>(lengths.begin(), lengths.end()), known(buffer.element_type()), buffer.untyped_data());
}

template <typename Value, typename Next>
detail::Arguments<Value> arguments(detail::Request& request, Next next) {
  detail::Arguments<Value> made;
  made.inputs.resize(request.next<size_t>());
  for (auto& input : made.inputs) {
    int count = request.next<int>();
    if (count < 0) continue;
    input.emplace();
    for (int i = 0; i < count; ++i) input->push_back(next());
  }
  made.attributes = &request;
  return made;
}

void computed(ffi::RemainingArgs& operands, ffi::RemainingRets& results, const std::string& name, const std::string& text) {
  detail::Request request(text);
  size_t used = 0;
  auto inputs = arguments<Tensor>(request, [&] { return seen(operands.get<ffi::AnyBuffer>(used++).value()); });
  std::vector<Tensor> made = detail::operators().at(name).kernel(inputs);
  if (made.size() != results.size())
    throw std::runtime_error(detail::joined("the kernel returned ", made.size(), " Tensors; declared are ", results.size()));
  for (size_t i = 0; i < made.size(); ++i) {
    ffi::Result<ffi::AnyBuffer> buffer = results.get<ffi::AnyBuffer>(i).value();
    Tensor place = seen(*buffer);
    if (place.shape() != made[i].shape() || place.dtype() != made[i].dtype())
      throw std::runtime_error(detail::joined("the kernel returned ", made[i].dtype(), " ", listed(made[i].shape()), " as result ", i, "; inferred were ",
                                              place.dtype(), " ", listed(place.shape())));
    if (made[i].numel()) std::memcpy(place.data(), made[i].data(), made[i].numel() * paddle::SizeOf(made[i].dtype()));
  }
}

ffi::Error Call(ffi::RemainingArgs operands, ffi::RemainingRets results, std::string_view name, std::string_view request) {
  try {
    computed(operands, results, std::string(name), std::string(request));
  } catch (const std::exception& error) {
    return ffi::Error(ffi::ErrorCode::kInvalidArgument, std::string(name) + ": " + error.what());
  }
  return ffi::Error::Success();
}

std::string g_text;

const char* answered(const std::function<std::string()>& answer) {
  try {
    g_text = "=" + answer();
  } catch (const std::exception& error) {
    g_text = std::string("!") + error.what();
  }
  return g_text.c_str();
}

std::string with_commas(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return text;
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(paddle_jax_call, Call,
                              ffi::Ffi::Bind().RemainingArgs().RemainingRets().Attr<std::string_view>("name").Attr<std::string_view>("request"));

extern "C" const char* paddle_jax_describe() {
  return answered([] {
    std::string text;
    for (auto& [name, made] : detail::operators())
      text += name + "\t" + with_commas(made.inputs) + "\t" + with_commas(made.outputs) + "\t" + with_commas(made.attributes) + "\t" +
              (made.kernel ? "k" : "") + (made.shapes ? "s" : "") + (made.types ? "t" : "") + "\n";
    return text;
  });
}

extern "C" const char* paddle_jax_shapes(const char* name, const char* text) {
  return answered([=] {
    detail::Request request{std::string(text)};
    auto inputs = arguments<detail::Shape>(request, [&] { return request.list<int64_t>(); });
    std::string answer;
    for (const auto& shape : detail::operators().at(name).shapes(inputs)) answer += listed(shape) + ";";
    return answer;
  });
}

extern "C" const char* paddle_jax_types(const char* name, const char* text) {
  return answered([=] {
    detail::Request request{std::string(text)};
    auto inputs = arguments<DataType>(request, [&] { return static_cast<DataType>(request.next<int>()); });
    std::string answer;
    for (DataType type : detail::operators().at(name).types(inputs)) answer += std::string(paddle::NameOf(type)) + ";";
    return answer;
  });
}
