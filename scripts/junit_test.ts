import assert from "node:assert/strict";
import { parseJUnit, sum } from "./junit.ts";

Deno.test("reads what deno test writes", () => {
  const result = parseJUnit(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="deno test" tests="4" failures="1" errors="0" time="0.005">
    <testsuite name="x_test.ts" tests="4" disabled="1" errors="0" failures="1">
        <testcase name="ok &gt; &quot;x&quot;" classname="x_test.ts" time="0.000" line="2" col="6">
        </testcase>
        <testcase name="ign" classname="x_test.ts" time="0.000" line="4" col="6">
            <skipped/>
        </testcase>
        <testcase name="bad &gt; inner" classname="x_test.ts" time="0.001" line="3" col="39">
            <failure message="Uncaught">AssertionError: a &lt; b &#39;c&#x27;
1 !== 2</failure>
        </testcase>
        <testcase name="bad &gt; good" classname="x_test.ts" time="0.001" line="3" col="104">
        </testcase>
    </testsuite>
</testsuites>`);
  assert.deepEqual(result, {
    passed: 2,
    skipped: 1,
    failures: [{ name: "bad > inner", text: "AssertionError: a < b 'c'\n1 !== 2" }],
  });
});

Deno.test("reads what cmocka writes", () => {
  const result = parseJUnit(`<?xml version="1.0" encoding="UTF-8" ?>
<testsuites>
  <testsuite name="t" time="0.000" tests="4" failures="1" errors="1" skipped="1" >
    <testcase name="a" time="0.000" >
    </testcase>
    <testcase name="b" time="0.000" >
      <failure><![CDATA["<a>" != "]]>"
c.c:9: error: Failure!]]></failure>
    </testcase>
    <testcase name="c" time="0.000" >
      <skipped/>
    </testcase>
    <testcase name="d" time="0.000" >
      <error message="Unknown error" />
    </testcase>
  </testsuite>
</testsuites>`);
  assert.deepEqual(result, {
    passed: 1,
    skipped: 1,
    failures: [
      { name: "b", text: '"<a>" != "]]>"\nc.c:9: error: Failure!' },
      { name: "d", text: "Unknown error" },
    ],
  });
});

Deno.test("adds results up", () => {
  const one = { passed: 1, skipped: 2, failures: [{ name: "a", text: "b" }] };
  assert.deepEqual(sum([one, one]), {
    passed: 2,
    skipped: 4,
    failures: [{ name: "a", text: "b" }, { name: "a", text: "b" }],
  });
  assert.deepEqual(parseJUnit("no XML at all"), { passed: 0, skipped: 0, failures: [] });
});
