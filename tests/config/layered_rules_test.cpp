#include <doctest/doctest.h>

#include "config/files.h"

namespace shard {
namespace {

const TestFiles site({{"base.yaml", R"y(mesh: {data: 2, model: 4}
rules:
  - [batch, data]
  - [embed, model]
  - [embed, data]
  - [mlp, model]
rules_for: {optimizer: [[embed, data]]}
paths: [["*.bias", P()]]
devices: cpu-8
unmatched: error
)y"},
                      {"site.yaml", R"y(rules:
  - [heads, model]
  - [embed, null]
rules_for: {optimizer: [[mlp, data]], params: [[mlp, data]]}
paths: [["*.scale", P(data)]]
resolver: nnx
)y"},
                      {"mesh.yaml", "mesh: {data: 8}\n"}});

}  // namespace

TEST_CASE("a later file's rules are asked first unless it says otherwise") {
  CHECK(site.layered("base.yaml", {"site.yaml"}, RuleMerge::prepend) ==
        R"y(base+site from base.yaml unmatched error devices cpu-8
mesh data=2 model=4
rules
  heads -> model@2:5
  embed -> None@3:5
  batch -> data@3:5
  embed -> model@4:5
  embed -> data@5:5
  mlp -> model@6:5
rules for optimizer
  mlp -> data@4:25
  embed -> data@7:25
rules for params
  mlp -> data@4:48
paths
  *.scale -> P('data',)@5:9
  *.bias -> P()@8:9
resolver nnx
)y");
}

TEST_CASE("a later file's rules can be asked last") {
  CHECK(site.layered("base.yaml", {"site.yaml"}, RuleMerge::append) ==
        R"y(base+site from base.yaml unmatched error devices cpu-8
mesh data=2 model=4
rules
  batch -> data@3:5
  embed -> model@4:5
  embed -> data@5:5
  mlp -> model@6:5
  heads -> model@2:5
  embed -> None@3:5
rules for optimizer
  embed -> data@7:25
  mlp -> data@4:25
rules for params
  mlp -> data@4:48
paths
  *.bias -> P()@8:9
  *.scale -> P('data',)@5:9
resolver nnx
)y");
}

TEST_CASE("a later file's rules can take the place of those of the same names") {
  CHECK(site.layered("base.yaml", {"site.yaml"}, RuleMerge::replace) ==
        R"y(base+site from base.yaml unmatched error devices cpu-8
mesh data=2 model=4
rules
  batch -> data@3:5
  embed -> None@3:5
  mlp -> model@6:5
  heads -> model@2:5
rules for optimizer
  embed -> data@7:25
  mlp -> data@4:25
rules for params
  mlp -> data@4:48
paths
  *.bias -> P()@8:9
  *.scale -> P('data',)@5:9
resolver nnx
)y");
}

TEST_CASE("a later mesh takes the devices of the earlier one away with it") {
  CHECK(site.layered("base.yaml", {"mesh.yaml"}, RuleMerge::prepend) ==
        R"y(base+mesh from base.yaml unmatched error
mesh data=8
rules
  batch -> data@3:5
  embed -> model@4:5
  embed -> data@5:5
  mlp -> model@6:5
rules for optimizer
  embed -> data@7:25
paths
  *.bias -> P()@8:9
)y");
}

TEST_CASE("the command line changes the rules last") {
  Overrides overrides;
  overrides.mesh = "data=8,model=-1";
  overrides.dcn = "data=2";
  overrides.devices = "2xv5e-16";
  overrides.resolver = "linen";
  overrides.add_rules = {"[vocab, [data, model]]"};
  overrides.drop_rules = {"3", "1", "5"};
  CHECK(site.layered("base.yaml", {}, RuleMerge::prepend, overrides) ==
        R"y(base from base.yaml unmatched error devices 2xv5e-16
mesh data=8 model=-1
rules
  embed -> model@4:5
  mlp -> model@6:5
  vocab -> data+model@1:1
rules for optimizer
paths
  *.bias -> P()@8:9
resolver linen
dcn data=2
)y");
}

TEST_CASE("changes that mean nothing are refused together") {
  Overrides overrides;
  overrides.mesh = "data";
  overrides.dcn = "data=x";
  overrides.resolver = "lines";
  overrides.add_rules = {"[vocab]"};
  overrides.drop_rules = {"6", "embed", "0"};
  CHECK(site.layered("base.yaml", {}, RuleMerge::prepend, overrides) ==
        R"(--drop-rule:1:1: error: there is no rule 6 [bad-override]
    1 | 6
      | ^
  hint: the rules are 1 to 5
--drop-rule:2:1: error: 'embed' is not the number of a rule [bad-override]
    2 | embed
      | ^~~~~
  hint: reports number the rules from 1, e.g. --drop-rule 2
--drop-rule:3:1: error: there is no rule 0 [bad-override]
    3 | 0
      | ^
  hint: the rules are 1 to 5
--mesh:1:1: error: 'data' is not AXIS=SIZE [bad-override]
    1 | data
      | ^~~~
  hint: e.g. --mesh data=4,model=2
--dcn:1:6: error: dcn axis 'data' is x, expected a whole number of 1 or more [bad-size]
    1 | data=x
      |      ^
--resolver: error: 'lines' is not one of its values [bad-value]
  hint: did you mean 'linen'? valid: linen, nnx
--add-rule:1:1: error: a rule is a list of 1, expected a pair [logical axis, mesh axes] [bad-rule]
    1 | [vocab]
      | ^
  hint: a rule is written [batch, data] or [mlp, [fsdp, tensor]]
)");
}

}  // namespace shard
