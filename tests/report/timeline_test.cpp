#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/protobuf.h"
#include "report/timeline_view.h"

using namespace shard;

namespace {

/// Two devices that compute a product and add their results up.
PlannedFunction product_of_two() {
  PlannedFunction function;
  const Mesh mesh({{MeshAxis("data"), 2, {}}});
  function.program.mesh = mesh;
  function.sharded.graph.nodes.emplace_back();
  function.sharded.graph.nodes.back().name = "Dense_0";
  Instruction dot, sum;
  dot.op = Op::dot;
  dot.node = sum.node = id_at<NodeId>(0);
  sum.kind = Instruction::Kind::collective;
  sum.phase = Phase::backward;
  sum.collective.emplace();
  sum.collective->payload = sum.collective->wire = Bytes(64);
  function.program.bodies.resize(2);
  function.program.bodies[0].instructions = {dot};
  function.program.bodies[1].instructions = {sum};
  return function;
}

/// Device 1 comes first and waits 2.5 microseconds. The sum is in the second iteration of a loop.
Timeline product_times() {
  Timeline timeline;
  timeline.devices = 2;
  timeline.workers = 2;
  timeline.instructions = {{"dot", false, 0, 0, 96, 120}, {"all_reduce data", true, 1, 0, 0, 128}};
  timeline.spans = {{0, 0, 0, -1, 500, 500, 3500, -1},
                    {0, 1, 1, 1, 4000, 4000, 5000, 0},
                    {1, 1, 0, -1, 0, 0, 1500, -1},
                    {1, 1, 1, 1, 1500, 4000, 5000, 0}};
  return timeline;
}

struct Timed {
  PlannedFunction function = product_of_two();
  Timeline timeline = product_times();

  TimedFunction as(const std::string& title) const { return {title, &function, &timeline}; }
};

std::uint64_t read_varint(std::string_view bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.at(at++));
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return value;
  }
}

/// Fields that are messages by the path of their numbers from the file; all others are texts.
bool is_message(const std::string& path) {
  for (const char* one :
       {"1", "1.60", "1.60.3", "1.11", "1.11.4", "1.12", "1.12.1", "1.12.2", "1.12.3", "1.12.29"}) {
    if (path == one) return true;
  }
  return false;
}

/// `1{60{1:7 2:"name"} 10:1}`: what a reader that knows no names sees.
std::string shown(std::string_view bytes, const std::string& path = "") {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::uint64_t key = read_varint(bytes, at);
    const std::string number = std::to_string(key >> 3);
    const std::string inner = path.empty() ? number : path + "." + number;
    if (!text.empty()) text += path.empty() ? "\n" : " ";
    if ((key & 7) == 0) {
      text += number + ":" + std::to_string(read_varint(bytes, at));
    } else if ((key & 7) == 1) {
      std::uint64_t value = 0;
      for (int i = 7; i >= 0; --i) {
        value = value << 8 | static_cast<unsigned char>(bytes.at(at + static_cast<std::size_t>(i)));
      }
      at += 8;
      text += number + ":fixed " + std::to_string(value);
    } else {
      REQUIRE((key & 7) == 2);
      const std::size_t size = read_varint(bytes, at);
      const std::string_view value = bytes.substr(at, size);
      REQUIRE(value.size() == size);
      at += size;
      text += is_message(inner) ? number + "{" + shown(value, inner) + "}"
                                : number + ":\"" + std::string(value) + "\"";
    }
  }
  return text;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("fields of protobuf are stored as its other readers expect them") {
  ProtobufMessage message;
  message.number(1, 150).text(2, "testing").fixed(47, 1).message(3, ProtobufMessage().number(1, 1));
  const std::string expected(
      "\x08\x96\x01\x12\x07testing\xF9\x02\x01\0\0\0\0\0\0\0\x1A\x02\x08\x01", 26);
  CHECK(message.bytes() == expected);
  CHECK(ProtobufMessage().number(1, ~std::uint64_t{0}).bytes() ==
        "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01");
}

TEST_CASE("a timeline as JSON has tracks and slices and arrows between members") {
  const Timed timed;
  const std::string expected = R"json({"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"train step"}},
{"ph":"M","pid":1,"tid":0,"name":"thread_name","args":{"name":"device 0 (data 0)"}},
{"ph":"M","pid":1,"tid":0,"name":"thread_sort_index","args":{"sort_index":0}},
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"device 1 (data 1)"}},
{"ph":"M","pid":1,"tid":1,"name":"thread_sort_index","args":{"sort_index":1}},
{"ph":"X","pid":1,"tid":0,"ts":0.500,"dur":3.000,"name":"dot","cat":"compute","args":{"instruction":"0","layer":"Dense_0","phase":"forward","bytes":120,"flops":96,"worker":0}},
{"ph":"X","pid":1,"tid":0,"ts":4.000,"dur":1.000,"name":"all_reduce data","cat":"collective","args":{"instruction":"body 1, 0","layer":"Dense_0","phase":"backward","payload bytes":64,"wire bytes":64,"iteration":1,"worker":1}},
{"ph":"f","pid":1,"tid":0,"ts":4.000,"id":0,"name":"all_reduce data","cat":"collective","bp":"e"},
{"ph":"X","pid":1,"tid":1,"ts":0.000,"dur":1.500,"name":"dot","cat":"compute","args":{"instruction":"0","layer":"Dense_0","phase":"forward","bytes":120,"flops":96,"worker":1}},
{"ph":"X","pid":1,"tid":1,"ts":1.500,"dur":3.500,"name":"all_reduce data","cat":"collective","args":{"instruction":"body 1, 0","layer":"Dense_0","phase":"backward","payload bytes":64,"wire bytes":64,"iteration":1,"worker":1}},
{"ph":"X","pid":1,"tid":1,"ts":1.500,"dur":2.500,"name":"wait for members","cat":"wait"},
{"ph":"s","pid":1,"tid":1,"ts":1.500,"id":0,"name":"all_reduce data","cat":"collective"}
]}
)json";
  CHECK(timeline_json({timed.as("train step")}) == expected);
}

TEST_CASE("a second function of a timeline follows the first and has its own arrows") {
  const Timed timed;
  const std::string text = timeline_json({timed.as("train step"), timed.as("apply")});
  CHECK(has(text, R"({"ph":"M","pid":2,"tid":0,"name":"process_name","args":{"name":"apply"}})"));
  CHECK(has(text, R"({"ph":"X","pid":2,"tid":1,"ts":5.000,"dur":1.500,"name":"dot")"));
  CHECK(has(text, R"({"ph":"s","pid":2,"tid":1,"ts":6.500,"id":1,)"));
}

TEST_CASE("names in a timeline are escaped") {
  Timed timed;
  timed.function.sharded.graph.nodes.back().name = "a\"b\\c\n";
  CHECK(has(timeline_json({timed.as("a\tb")}), R"("layer":"a\"b\\c\n")"));
  CHECK(has(timeline_json({timed.as("a\tb")}), R"("args":{"name":"a\tb"})"));
}

TEST_CASE("a timeline as protobuf says each name once") {
  const Timed timed;
  const std::string expected = R"form(1{60{1:1 3{1:1 6:"train step"} 11:3} 10:1 13:3}
1{60{1:2 2:"device 0 (data 0)" 5:1 12:0} 10:1 13:2}
1{60{1:3 2:"device 1 (data 1)" 5:1 12:1} 10:1 13:2}
1{8:500 11{3:1 9:1 10:1 11:2 4{1:1 17:1} 4{1:2 17:2} 4{1:3 17:3} 4{1:4 4:120} 4{1:5 4:96} 4{1:6 4:0}} 12{1{1:1 2:"compute"} 2{1:1 2:"dot"} 3{1:1 2:"instruction"} 29{1:1 2:"0"} 3{1:2 2:"layer"} 29{1:2 2:"Dense_0"} 3{1:3 2:"phase"} 29{1:3 2:"forward"} 3{1:4 2:"bytes"} 3{1:5 2:"flops"} 3{1:6 2:"worker"}} 10:1 13:2}
1{8:3500 11{9:2 11:2} 10:1 13:2}
1{8:4000 11{3:2 9:1 10:2 11:2 4{1:1 17:4} 4{1:2 17:2} 4{1:3 17:5} 4{1:7 4:64} 4{1:8 4:64} 4{1:9 4:1} 4{1:6 4:1} 48:fixed 1} 12{1{1:2 2:"collective"} 2{1:2 2:"all_reduce data"} 29{1:4 2:"body 1, 0"} 29{1:5 2:"backward"} 3{1:7 2:"payload bytes"} 3{1:8 2:"wire bytes"} 3{1:9 2:"iteration"}} 10:1 13:2}
1{8:5000 11{9:2 11:2} 10:1 13:2}
1{8:0 11{3:1 9:1 10:1 11:3 4{1:1 17:1} 4{1:2 17:2} 4{1:3 17:3} 4{1:4 4:120} 4{1:5 4:96} 4{1:6 4:1}} 10:1 13:2}
1{8:1500 11{9:2 11:3} 10:1 13:2}
1{8:1500 11{3:2 9:1 10:2 11:3 4{1:1 17:4} 4{1:2 17:2} 4{1:3 17:5} 4{1:7 4:64} 4{1:8 4:64} 4{1:9 4:1} 4{1:6 4:1} 47:fixed 1} 10:1 13:2}
1{8:1500 11{3:3 9:1 10:3 11:3} 12{1{1:3 2:"wait"} 2{1:3 2:"wait for members"}} 10:1 13:2}
1{8:4000 11{9:2 11:3} 10:1 13:2}
1{8:5000 11{9:2 11:3} 10:1 13:2})form";
  CHECK(shown(timeline_protobuf({timed.as("train step")})) == expected);
}
