#include <doctest/doctest.h>

#include "text/read.h"
#include "text/rendered.h"
#include "text/write_yaml.h"

namespace shard {
namespace {

std::string refused_json(const std::string& text) {
  MemoryReader reader({});
  Sources sources(reader);
  sources.add("c.json", text);
  return rendered(sources, [&] { read_json("c.json", text); });
}

Location in_json(int line, int column, int length = 1) { return {"c.json", line, column, length}; }

}  // namespace

TEST_CASE("read_json places every key and value") {
  const TextNode root = read_json("c.json",
                                  "{\n"
                                  "  \"hidden_size\": 4096,\n"
                                  "  \"eps\" : 1e-05, \"a\\\"b\":[true ,null,\"x\\u00e9\", -12],\n"
                                  "  \"big\": 123456789012345678901234567890,\n"
                                  "  \"empty\": {}\n"
                                  "}\n");
  CHECK(root.at == in_json(1, 1));
  CHECK(root.entries[0].key == "hidden_size");
  CHECK(root.entries[0].key_at == in_json(2, 3, 13));
  CHECK(root.entries[0].value.scalar == "4096");
  CHECK(root.entries[0].value.at == in_json(2, 18, 4));
  CHECK(root.entries[1].value.scalar == "1e-05");
  CHECK(root.entries[1].value.at == in_json(3, 11, 5));
  CHECK(root.entries[2].key == "a\"b");
  CHECK(root.entries[2].key_at == in_json(3, 18, 6));
  const std::vector<TextNode>& list = root.entries[2].value.items;
  CHECK(list[0].scalar == "true");
  CHECK(list[0].at == in_json(3, 26, 4));
  CHECK(list[1].is_null());
  CHECK(list[1].at == in_json(3, 32, 4));
  CHECK(list[2].scalar == "x\xC3\xA9");
  CHECK(list[2].quoted);
  CHECK(to_string(list[2].at) == "c.json:3:37");
  CHECK(list[2].at.length == 9);
  CHECK(list[3].scalar == "-12");
  CHECK(list[3].at == in_json(3, 48, 3));
  CHECK(root.find("big")->scalar == "123456789012345678901234567890");
  CHECK(root.find("empty")->is_map());
  CHECK(root.find("empty")->at == in_json(5, 12));
}

TEST_CASE("JSON and YAML give the same tree for the same text") {
  const std::string text = "{\"a\": [1, 2.5, {\"b\": null}], \"c\": \"x y\", \"d\": true}";
  CHECK(same_content(read_json("c.json", text), read_yaml("c.json", text)));
}

TEST_CASE("a scalar alone is a JSON document") {
  CHECK(read_json("c.json", " 42 ").scalar == "42");
  CHECK(read_json("c.json", " 42 ").at == in_json(1, 2, 2));
}

TEST_CASE("JSON mistakes are placed") {
  CHECK(refused_json("{\"a\": 1,\n \"b\": tru}\n") ==
        "c.json:2:10: error: parsing value - invalid literal [json-syntax]\n"
        "    2 |  \"b\": tru}\n"
        "      |          ^\n");
  CHECK(refused_json("{\"a\": 1, \"a\": 2}") ==
        "c.json:1:10: error: key 'a' is given twice in this map [duplicate-key]\n"
        "    1 | {\"a\": 1, \"a\": 2}\n"
        "      |          ^~~\n"
        "  hint: it is given first in line 1; keep one of the two\n");
  CHECK(refused_json("[1, 2") ==
        "c.json:1:5: error: parsing array - unexpected end of input; expected ']' [json-syntax]\n"
        "    1 | [1, 2\n"
        "      |     ^\n");
  CHECK(refused_json("") ==
        "c.json:1:1: error: parsing value - unexpected end of input; expected '[', '{', or a "
        "literal [json-syntax]\n"
        "    1 | \n"
        "      | ^\n");
  CHECK(refused_json("{} x") ==
        "c.json:1:4: error: parsing value - invalid literal; expected end of "
        "input [json-syntax]\n"
        "    1 | {} x\n"
        "      |    ^\n");
  CHECK_THROWS_AS(read_json("c.json", std::string(100000, '[')), Error);
}

}  // namespace shard
