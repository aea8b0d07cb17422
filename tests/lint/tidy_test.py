# SPDX-License-Identifier: Apache-2.0
"""Feeds every rule of tools/tidy what it must find, and what it must leave alone."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from kit import tap  # noqa: E402

tidy = tap.load_tool("tidy")

HEAD = "/* SPDX-License-Identifier: Apache-2.0 */\n"
C = HEAD + "/* x.c - a thing. */\n"
LATER = "TO" + "DO"

PROTO = """option go_package = "x/v1;xv1";
option java_multiple_files = true;
option java_package = "x.v1";
"""

# rule: (files it must find something in, files it must not)
CASES = {
    "layering": [
        ({"src/base/x.c": '#include "net/rpc.h"\n'}, {"src/net/x.c": '#include "base/buf.h"\n'}),
        ({"src/store/x.c": '#include "net/rpc.h"\n'}, {"src/net/x.c": '#include "model/id.h"\n'}),
        ({"src/offers/x.c": '#include "search/a.h"\n'},
         {"src/access/x.c": '#include "store/store.h"\n'}),
        ({"demo/x.c": '#include "registry/a.h"\n'}, {"demo/x.c": '#include "offers/a.h"\n'}),
        ({"src/offers/x.c": '#include "demo/a.h"\n'}, {"src/roles/x.c": '#include "demo/a.h"\n'}),
        ({"src/unheard/x.c": ""}, {"tests/unit/base/x.c": '#include "net/rpc.h"\n'}),
    ],
    "rooms": [
        ({"src/feeds/formats/x.c": '#include "feeds/mapping/a.h"\n'},
         {"src/feeds/mapping/x.c": '#include "feeds/formats/a.h"\n#include "feeds/bounds.h"\n'}),
        ({"src/feeds/apply/x.c": '#include "feeds/service.h"\n'},
         {"src/feeds/service.c": '#include "feeds/apply/a.h"\n'}),
        ({"src/feeds/unheard/x.c": ""}, {"src/offers/x.c": '#include "feeds/mapping/a.h"\n'}),
        ({"src/query/query.h": '#include "query/text/a.h"\n'},
         {"src/query/text/x.c": '#include "query/query.h"\n'}),
        ({"src/net/server/loop/x.c": '#include "net/server/calls/a.h"\n'},
         {"src/net/server/loop/x.c": '#include "net/rpc.h"\n',
          "src/net/server/server.c": '#include "net/server/calls/a.h"\n'}),
    ],
    "folder_size": [
        ({f"src/net/x{number}.c": "" for number in range(49)}, {f"src/base/x{number}.c": "" for number in range(49)}),
    ],
    "own_includes": [
        ({"src/base/x.c": '#include "base/none.h"\n'},
         {"src/base/x.c": '#include "base/a.h"\n', "src/base/a.h": ""}),
        ({"src/base/x.c": '#include "a.h"\n', "src/base/a.h": ""},
         {"src/net/x.c": '#include "torg/v1/system.pb-c.h"\n'}),
        ({"demo/x.c": '#include "a.h"\n', "demo/a.h": ""},
         {"src/roles/x.c": '#include "demo/a.h"\n', "demo/a.h": ""}),
        ({"src/net/x.c": '#include "made.h"\n'},
         {"src/net/x.c": '#include "made.h"\n', "src/net/meson.build": "output: ['made.h']"}),
    ],
    "libraries": [
        ({"demo/x.c": "#include <sqlite3.h>\n"}, {"demo/x.c": "#include <math.h>\n"}),
        ({"src/topic/x.c": "#include <sqlite3.h>\n"}, {"src/store/x.c": "#include <sqlite3.h>\n"}),
        ({"src/net/x.c": "#include <exotic.h>\n"}, {"src/net/x.c": "#include <sys/epoll.h>\n"}),
        ({"src/store/x.c": "#include <protobuf-c/protobuf-c.h>\n"},
         {"src/offers/x.c": "#include <protobuf-c/protobuf-c.h>\n"}),
    ],
    "proto_packages": [
        ({"proto/torg/v1/x.proto": PROTO.replace(line, "")}, {"proto/torg/v1/x.proto": PROTO})
        for line in PROTO.splitlines()
    ] + [({"proto/torg/v1/x.proto": ""}, {"proto/google/x.proto": "", "tests/proto/x.proto": ""})],
    "folder_readmes": [
        ({"src/base/x.c": C}, {"src/base/x.c": C, "src/base/README.md": "`x.c` is all of it"}),
        ({"src/a/b/x.c": C, "src/a/README.md": ""}, {"src/a/b/x.c": C, "src/a/b/README.md": ""}),
        ({"src/base/x.c": C, "src/base/README.md": "begin with `y.h`"},
         {"tests/unit/base/x.c": C, "tests/README.md": "`y.h`"}),
    ],
    "own_header_first": [
        ({"src/base/x.c": '#include <stdio.h>\n#include "base/x.h"\n', "src/base/x.h": ""},
         {"src/base/x.c": '#include "base/x.h"\n#include <stdio.h>\n', "src/base/x.h": ""}),
        ({"demo/x.c": '#include "demo/y.h"\n', "demo/x.h": ""},
         {"demo/x.c": '#include "demo/x.h"\n', "demo/x.h": ""}),
        ({"src/base/x.c": "", "src/base/x.h": ""}, {"src/base/x_part.c": "#include <stdio.h>\n"}),
    ],
    "include_guards": [
        ({"src/base/x.h": "#pragma once\n"},
         {"src/base/x.h": C + "#ifndef TORG_BASE_X_H\n#define TORG_BASE_X_H\n#endif\n"}),
        ({"src/base/x.h": "#ifndef X_H\n#define X_H\n#endif\n"},
         {"tests/unit/a.h": "#ifndef TORG_TESTS_A_H\n#define TORG_TESTS_A_H\n#endif\n"}),
    ],
    "file_length": [
        ({"src/base/x.c": "\n" * 801}, {"src/base/x.c": "\n" * 800}),
        ({"tools/x": "#!/bin/sh\n" * 801}, {"docs/x.md": "\n" * 900}),
    ],
    "function_length": [
        ({"src/base/x.c": "int f(void)\n{\n" + "    g();\n" * 69 + "}\n"},
         {"src/base/x.c": "int f(void)\n{\n" + "    g();\n" * 68 + "}\n"}),
    ],
    "licence_and_comment": [
        ({"src/base/x.c": "/* x.c - a thing. */\n"}, {"src/base/x.c": C}),
        ({"src/base/x.c": HEAD + "#include <stdio.h>\n"},
         {"src/base/x.c": HEAD + "/*\n * x.c - a thing.\n"}),
        ({"src/base/x.c": HEAD + "/* y.c - b */\n"}, {"tests/unit/x.c": HEAD + "/* Tests. */\n"}),
        ({"tools/x": "#!/bin/sh\n"},
         {"tools/x": "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n"}),
    ],
    "banned_calls": [
        ({"src/base/x.c": "strcpy(a, b);\n"},
         {"src/base/x.c": "/* strcpy(a, b) */ my_strcpy(a);\n"}),
        ({"tests/unit/x.c": "n = atoi (s);\n"}, {"src/base/x.c": 'log("never system() it");\n'}),
        ({"src/net/x.c": "exit(1);\n"}, {"src/roles/x.c": "exit(1);\n"}),
        ({"src/net/x.c": "usleep(1);\n"}, {"src/net/x.c": "ops->system(x); at.exit(1);\n"}),
    ],
    "net_in_services": [
        ({"src/offers/x.c": '#include "net/rpc.h"\n'},
         {"src/offers/service.h": '#include "net/rpc.h"\n'}),
        ({"src/offers/x.c": '#include "net/bounds.h"\n'},
         {"src/offers/service.h": '#include "net/bounds.h"\n'}),
    ],
    "given_time": [
        ({"src/net/x.c": "rc = pthread_create(&a, NULL, b, c);\n"},
         {"src/base/x.c": "rc = pthread_create(&a, NULL, b, c);\n"}),
        ({"src/net/x.c": "pthread_cond_wait(&a, &b);\n"},
         {"src/net/x.c": "/* the library's own */\npthread_cond_wait(&a, &b);\n"}),
        ({"src/net/x.c": "a = clock_mono_us(clock_system());\n"},
         {"src/roles/x.c": "a = clock_mono_us(clock_system());\n"}),
        ({"src/roles/x.c": "nanosleep(&a, NULL);\n"}, {"tests/x.c": "nanosleep(&a, NULL);\n"}),
    ],
    "hidden_control": [
        ({"src/base/x.h": "#define TRY(x) do { \\\n if (x) return -1; } while (0)\n"},
         {"src/base/x.h": "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"}),
        ({"src/base/x.c": "if ((n = f()))\n"}, {"src/base/x.c": "if (n == f() && a <= b)\n"}),
        ({"src/base/x.c": "while (a &&\n (n = f()) != 0)\n"},
         {"src/base/x.c": "if (a)\n  b = 1;\n"}),
        ({"src/base/x.h": "typedef struct x { int a; } x;\n"},
         {"src/base/x.h": "typedef uint64_t docid;\n"}),
    ],
    "dead_files": [
        ({"src/base/x.c": "", "src/base/meson.build": "'xx.c'"},
         {"src/base/x.c": "", "src/base/meson.build": "'x.c'"}),
        ({"src/net/server/loop/x.c": "", "src/net/meson.build": "'server/loop/xx.c'"},
         {"src/net/server/loop/x.c": "", "src/net/meson.build": "'server/loop/x.c'"}),
        ({"src/base/x.h": ""}, {"src/base/x.h": "", "tests/y.c": '#include "base/x.h"\n',
                                "tests/meson.build": "foreach name : ['y']"}),
        ({"tests/e2e/x.py": ""}, {"tests/e2e/x.py": "", "tests/e2e/y.py": "import x\n",
                                  "tests/e2e/meson.build": "'y.py'"}),
        ({"tests/e2e/kit/x.py": ""},
         {"tests/e2e/kit/x.py": "", "tests/e2e/y.py": "from kit import x\n",
          "tests/e2e/meson.build": "'y.py'"}),
    ],
    "known_metrics": [
        ({"src/base/x.c": 'a = metrics_sum("torg_gone_total", "");\n'},
         {"src/base/x.c": 'a = metrics_sum("torg_a_total", "");\n'
                          'b = metrics_counter("torg_a_total", NULL, "A.");\n'}),
    ],
    "limits_page": [
        ({"src/base/bounds.h": "enum {\n    A = 1, /* why */\n};\n", "docs/limits.md": ""},
         {"docs/limits.md": ""}),
    ],
    "names_with_objects": [
        ({"src/base/x.c": "static int take(void)\n{\n}\n"},
         {"src/base/x.c": "static int take_row(void)\n{\n    return self->take(self);\n}\n"}),
        ({"demo/x.c": "static void settle(struct a *a)\n{\n}\n"},
         {"src/base/x.h": "struct ops {\n    int (*take)(void *arg);\n};\n"}),
    ],
    "parked_stages": [
        ({"src/stage/x.h": '#define PARKED_BY_A "a-b"\n', "docs/parked.md": "| `a-b` |\n",
          "web/console/texts.js": '"parkedBy_a-b": "a",\n',
          "src/roles/commands/command.c": '"Of this stage only: a-b."\n'},
         {"src/stage/x.h": '#define PARKED_BY_A "a-b"\n', "docs/parked.md": "| `a-b` |\n",
          "web/console/texts.js": '"parkedBy_a-b": "a",\n"parkedBy_a-b": "a",\n',
          "src/roles/commands/command.c": '"Of this stage only: c, "\n"a-b."\n'}),
        ({"src/stage/x.h": '#define SNIPPET_STAGE_START "a:"\n'},
         {"src/stage/x.h": '#define OTHER "a:"\n'}),
    ],
    "one_definition": [
        ({"src/base/x.c": "int a(void)\n{\n}\n", "src/net/y.c": "char *a(int b,\n  int c)\n{\n}\n"},
         {"src/base/x.c": "int a(void)\n{\n}\n", "src/net/y.c": "static int a(void)\n{\n}\n"}),
    ],
    "layout": [
        ({"src/base/x.c": "a" * 101 + "\n"}, {"src/base/x.c": "a" * 100 + "\n"}),
        ({"tools/x.py": "a" * 121 + "\n"}, {"tools/x.py": "a" * 120 + "\n"}),
        ({"src/base/x.c": "\tint a;\n"}, {"docs/x.md": "a" * 200 + "\n"}),
        ({"src/base/x.c": "int a; \n"}, {"src/base/x.c": "int a;\n"}),
        ({"src/base/x.c": "int a;"}, {"src/base/x.c": ""}),
    ],
    "one_magic": [
        ({"src/base/x.c": "enum { X_MAGIC = OBJECT_MAGIC('a', 'b', 'c', 'd') };\n",
          "src/base/y.h": "enum { Y_MAGIC = OBJECT_MAGIC('a', 'b', 'c', 'd') };\n"},
         {"src/base/x.c": "enum { X_MAGIC = OBJECT_MAGIC('a', 'b', 'c', 'd') };\n",
          "src/base/y.h": "enum { Y_MAGIC = OBJECT_MAGIC('a', 'b', 'c', 'e') };\n"}),
    ],
    "nothing_unfinished": [
        ({"src/base/x.c": f"/* {LATER}: later */\n"}, {"docs/NEXT.md": f"{LATER}\n"}),
    ],
    "no_machine_paths": [
        ({"tools/x": "cd /ho" + "me/me\n"}, {"tools/x": "ls /usr/lib /home\n"}),
        ({"tests/x.c": '"/t' + 'mp/x"\n'}, {"tests/x.c": '"/t' + 'mp/torg-XXXXXX"\n'}),
    ],
}


def case(name):
    def each_bad_file_is_found_and_each_good_one_passes():
        for bad, good in CASES[name]:
            found, spared = list(tidy.RULES[name](bad)), list(tidy.RULES[name](good))
            assert found, f"{name} finds nothing in {bad}"
            assert not spared, f"{name} finds {spared} in {good}"
    each_bad_file_is_found_and_each_good_one_passes.__name__ = f"tidy_{name}"
    tap.test(each_bad_file_is_found_and_each_good_one_passes)


for each in CASES:
    case(each)


@tap.test
def every_rule_has_a_case():
    tap.equal(sorted(CASES), sorted(tidy.RULES))


@tap.test
def a_finding_names_its_line():
    found = list(tidy.RULES["banned_calls"]({"src/base/x.c": "int a;\n/* b\n */\nstrcat(a, b);\n"}))
    tap.equal([(path, line) for path, line, _ in found], [("src/base/x.c", 4)])


tap.main()
