import { expect } from 'chai';
import { problems } from '../support/scenarios.ts';

/** What is wrong, a scenario from its line 2 on, and all that is said about it. */
type Case = readonly [what: string, source: string, ...found: string[]];

const CASES: readonly Case[] = [
  [
    'names of components from other systems',
    `start: a
blocks:
  a: { plya: welcome.wav, next: b }
  b: { transfer: "102", next: c }
  c: { goto-menu: x, next: end }`,
    '4:8: there is no component "plya"; did you mean "play"?',
    '5:8: there is no component "transfer"; here it is "refer"',
    '6:8: there is no component "goto-menu"; docs/scenarios/components.md lists them all',
  ],
  [
    'a component in place of a block, and merge keys',
    `start: a
blocks:
  a: answer
  b:
    <<: { wait: 1s }
    next: end`,
    '4:6: the block "a" names no component; write { answer: , next: BLOCK }',
    '6:5: merge keys (<<) are not allowed; write the values out',
  ],
  [
    'wrong types in expressions, in our words',
    `parameters: { n: integer, name: string, ok: boolean, l: list }
start: a
blocks:
  a: { if: n == "3", exits: { then: b, else: end } }
  b: { if: ok && n, exits: { then: c, else: end } }
  c: { if: size(n) > 1, exits: { then: d, else: end } }
  d: { log: "\${l.foo}", next: e }
  e: { wait: "\${n}", next: end }`,
    '5:12: these types do not go together: integer == string; a text is compared with a text, e.g. "1"; int(...) makes it a number',
    '6:12: only true and false can be combined, not a value of type integer; compare it, e.g. with == 0',
    '7:12: "size" is not for values of type integer',
    '8:18: a list has no fields: items are read by their number, e.g. [0], and counted by size(...)',
    '9:14: "wait" must be a text like 5s, but this is of type integer; add the unit, e.g. ${seconds}s',
  ],
  [
    'functions there are not, at their very name',
    `variables: { n: 0 }
start: a
blocks:
  a: { if: call.number.startswith("1"), exits: { then: b, else: end } }
  b: { if: len(call.number) > 3, exits: { then: c, else: end } }
  c: { log: "\${call.number.upper()} \${toString(n)}", next: end }`,
    '5:24: there is no function "startswith"; did you mean "startsWith"?',
    '6:12: there is no function "len"; here it is "size"',
    '7:28: there is no function "upper"; here it is "upperAscii"',
    '7:39: there is no function "toString"; here it is "string"',
  ],
  [
    'operators of other languages',
    `variables: { n: 0 }
start: a
blocks:
  a: { if: n = 3, exits: { then: b, else: end } }
  b: { if: n == 3 and n < 5, exits: { then: c, else: end } }
  c: { if: not n == 3, exits: { then: d, else: end } }
  d: { if: n === 3, exits: { then: end, else: end } }`,
    '5:14: this is not valid syntax; write == to compare',
    '6:19: this is not valid syntax; write && for "and"',
    '7:12: this is not valid syntax; write ! for "not"',
    '8:16: this is not valid syntax; write == to compare',
  ],
  [
    'mistakes within texts of several lines, where they stand',
    `start: a
blocks:
  a:
    log: |
      first line
      second \${call.numbr} line
    next: b
  b:
    log: >-
      folded \${cal.number}
      text
    next: end`,
    '7:21: there is no field "numbr"; did you mean "number"?',
    '11:16: unknown name "cal"; did you mean "call"?',
  ],
  [
    'durations as others write them',
    `start: a
blocks:
  a: { wait: 5, next: b }
  b: { wait: 5 s, next: c }
  c: { wait: 5sec, next: d }
  d: { wait: 1h30m, next: e }
  e: { record: { max: 2min }, next: f }
  f: { wait: 400h, next: end }`,
    '4:14: "wait" is no duration; write 5s for seconds or 5ms for milliseconds',
    '5:14: "wait" is no duration; write 5s',
    '6:14: "wait" is no duration; write 5s',
    '7:14: "wait" is no duration; write 90m',
    '8:23: "max" is no duration; write 2m',
    '9:14: "wait" is no duration; write a number with ms, s, m or h, at most a week (168h)',
  ],
  [
    'a name in place of its value',
    `variables: { n: 0, hello: welcome.wav }
start: a
blocks:
  a: { switch: n, exits: { 1: b, else: b } }
  b: { collect: { max: 1 }, exits: { next: c, timeout: c } }
  c: { play: hello, next: d }
  d: { wait: n, next: e }
  e: { refer: b.digits, exits: { refused: end } }`,
    '5:8: "switch" looks at the text "n", which is always the same; write switch: ${...}',
    '7:14: there is no prompt "hello"; write ${hello} for its value',
    '8:14: "wait" is no duration; write ${n} for its value',
    '9:15: warning: this is the text "b.digits"; write ${b.digits} for its value',
  ],
  [
    'cases that cannot be, and a loop over nothing',
    `variables: { ok: false }
start: a
blocks:
  a: { switch: "\${ok}", exits: { yes: b, else: b } }
  b: { loop: , exits: { each: c, done: end } }
  c: { await_run: somebody, exits: { next: b, timeout: b } }`,
    '5:34: the value is never "yes"; it is true or false',
    '6:8: "loop" has neither "over" nor "times": name one, e.g. times: 3',
    '7:8: "await_run" names a run by its id, which is known at run time only: write run: ${BLOCK.run}, or in a module what scenario.run gave',
  ],
  [
    'what beginners write',
    `variables: { n: integer }
start: a
blocks:
  a: { answer: , next: b }
  b: { collect: { max: 1 }, exits: { next: c, timeout: c } }
  c: { if: b.digits == 1, exits: { then: d, else: d } }
  d: { if: "\${b.digits} == 1", exits: { true: end, then: end, else: end } }`,
    '2:17: warning: "n" begins as the text "integer"; for a type write n: { type: integer }',
    '7:12: these types do not go together: string == integer; a text is compared with a text, e.g. "1"; int(...) makes it a number',
    '8:13: this is not valid syntax; write the expression itself, without ${ }',
    '8:41: "if" has no exit "true"; there is: then, else, error',
  ],
  [
    'blocks without names',
    'start: a\nblocks:\n  - answer',
    '2:8: there is no block "a"',
    '4:3: blocks must be a map of names, not a list; write NAME: { COMPONENT: ..., next: NAME }',
  ],
  [
    'a colon that is missing',
    `start: a
blocks:
  a:
    answer
    next: end`,
    '5:5: not valid YAML: implicit keys need to be on a single line; a colon may be missing at the end of the line, as in answer:',
  ],
  [
    'one slip once',
    `start: a
blocks:
  a: { collect: { max: 1 }, exits: [end] }
  b: { answer: , next: [a] }
  c: { call: { to: "1" }, exits: { answered: a, refused: b } }
  d: { refer: "1" }
  a: { hangup: }`,
    '4:36: exits must be a map; e.g. exits: { next: BLOCK }',
    '5:3: the block "b" is never reached; connect an exit to it or remove it',
    '5:24: the exit "next" names no block; name a block, or end',
    '6:3: the block "c" is never reached; connect an exit to it or remove it',
    '6:8: "call" without `leg` is for a scenario that has no caller: name caller_id, or a leg where there is a caller',
    '7:3: the exit "refused" of the block "d" has no target; add exits: {refused: BLOCK}, or connect it to end',
    '7:3: the block "d" is never reached; connect an exit to it or remove it',
    '8:3: this key appears twice; keep one of them',
  ],
  [
    'every kind of mistake at once',
    `variables: { who: { type: string } }
start: a
blocks:
  a: { plya: x, next: b }
  b: { collect: { max: many }, exits: { next: c, timeout: nowhere } }
  c: { if: later.digits == who, exits: { then: d, else: end } }
  d: { set: { who: x }, next: e }
  e: { log: "\${who}", next: d }
  later: { collect: { max: 1 }, exits: { next: end, timeout: end } }
  orphan: { answer: , next: end }`,
    '5:8: there is no component "plya"; did you mean "play"?',
    '6:24: "max" must be a whole number from 1 to 64, not "many"',
    '6:59: there is no block "nowhere"; there is: a, b, c, d, e, later, orphan, end',
    '7:12: "later" is read before the block "later" has run',
    '7:12: warning: the variable "who" may be read here before it is set; give it a first value',
    '8:3: these blocks loop without a wait: d, e for ever; add a wait, or change an exit',
    '10:3: the block "later" is never reached; connect an exit to it or remove it',
    '11:3: the block "orphan" is never reached; connect an exit to it or remove it',
  ],
  [
    'one slip once, whatever follows from it',
    `start: a
blocks:
  a: { answer: , next: bb }
  b: { colect: { max: 1 }, exits: { next: c, timeout: c } }
  c: { say: "\${b.digits}", next: end }`,
    '4:24: there is no block "bb"; did you mean "b"?',
    '5:8: there is no component "colect"; did you mean "collect"?',
  ],
  [
    'samples that are YAML as they stand, and components without settings',
    `start: a
blocks:
  a: { answer: true, next: b }
  b: { log: , next: c }
  c: { collect: , exits: { next: end, timeout: end } }`,
    '4:16: "answer" has no settings; write nothing behind it',
    '5:8: "log" lacks the setting "text"; e.g. text: "tries: ${tries}"',
    '6:8: "collect" lacks the setting "max"; e.g. max: 4',
  ],
  [
    'texts in quotes within texts in quotes',
    `start: a
blocks:
  a:
    say: "It is \${now.getHours("Europe/Berlin")} o'clock"
    next: end`,
    `5:33: not valid YAML: unexpected scalar at node end; within "..." put texts of an expression into '...': "\${call.number == '101'}"`,
  ],
  [
    'a second call without a name',
    `start: a
blocks:
  a: { call: { to: "1", caller_id: "2" }, exits: { answered: end, busy: w, refused: b } }
  w: { wait: 1m, next: a }
  b: { call: { to: "3", caller_id: "2" }, exits: { answered: end, refused: end } }`,
    '4:3: warning: "call" comes here again, but the call without `leg` is made only once; give it a name: leg: other, beside call and in the blocks for that call',
    '6:3: warning: "call" comes here again, but the call without `leg` is made only once; give it a name: leg: other, beside call and in the blocks for that call',
  ],
  [
    'time zones there are not',
    `start: a
blocks:
  a: { if: "now.getHours('Europe/Berln') > 3", exits: { then: b, else: end } }
  b: { log: "at \${now.getMinutes('UTC')} \${now.getDate('Mars')}", next: end }`,
    '4:26: there is no time zone "Europe/Berln"; e.g. Europe/London',
    '5:56: there is no time zone "Mars"; e.g. Europe/London',
  ],
  [
    'exits that come with a setting only',
    `start: a
blocks:
  a: { answer: , next: b }
  b: { queue: q, exits: { turn: c, announce: end } }
  c: { call: { to: "1", mode: async }, leg: x, exits: { next: end, busy: end } }`,
    '5:36: "queue" never takes the exit "announce" with these settings; it comes with a setting, e.g. announce: 30s',
    '6:68: "call" never takes the exit "busy" with these settings; it comes with a setting, e.g. mode: provisional',
  ],
  [
    'durations whose unit is none',
    `variables: { n: 3, u: s }
start: a
blocks:
  a: { wait: "\${n} seconds", next: b }
  b: { wait: "\${n}\${u}", next: c }
  c: { wait: "\${n}.5s", next: end }`,
    '5:14: "wait" is no duration; write ${...}s',
  ],
  [
    'settings without braces',
    `start: a
blocks:
  a:
    collect: prompt: "silence:1s", max: 4
    exits: { next: end, timeout: end }`,
    '5:14: not valid YAML: nested mappings are not allowed in compact mappings; put quotes around a text that holds ": ", and braces around settings: { NAME: ... }',
  ],
  [
    'names that hide the time',
    `parameters: { now: { type: string, default: x } }
start: a
blocks:
  a: { log: "\${now}", next: end }`,
    '2:15: warning: "now" is the time, which expressions cannot read then; write now_1 or another name',
  ],
  [
    'a block whose results hide the time',
    `start: now
blocks:
  now: { collect: { max: 1 }, exits: { next: a, timeout: end } }
  a: { log: "\${now.digits}", next: end }`,
    '4:3: warning: "now" is the time, which expressions cannot read then; write now_1 or another name',
  ],
  [
    'a block whose name hides nothing',
    `start: now
blocks:
  now: { answer: , next: a }
  a: { log: "\${now.getHours()}", next: end }`,
  ],
  [
    'names and fields as others call them',
    `start: a
blocks:
  a: { loop: { over: [x] }, exits: { each: b, done: end } }
  b: { log: "\${item} \${number} \${call.caller} \${call.to} {call.from}", next: a }`,
    '5:16: unknown name "item"; write a.item',
    '5:24: unknown name "number"; write call.number for that of the call, or declare it under parameters',
    '5:39: there is no field "caller"; did you mean "number"?',
    '5:54: there is no field "to"; did you mean "dialled"?',
    '5:58: warning: "{call.from}" is plain text here; write ${call.number} for its value',
  ],
  [
    'secrets as other systems write them',
    `start: a
blocks:
  a: { http: { url: "https://a.example", headers: { key: $secrets.crm, auth: "Bearer {{secrets.crm}}" } }, next: end }`,
    '4:58: warning: "$secrets.crm" is plain text here; write ${secrets.crm} for its value',
    '4:86: warning: "{{secrets.crm}}" is plain text here; write ${secrets.crm} for its value',
  ],
  [
    'components that are named by a key of their own',
    `start: a
blocks:
  a:
    component: play
    settings: { sounds: "silence:1s" }
    next: end`,
    '5:5: there is no component "component"; write play: in place of it',
    '6:5: there is no component "settings"; put what is in it behind play:',
  ],
  [
    'single values for which another setting is meant',
    `start: a
blocks:
  a: { hold_music: 20s, next: b }
  b: { call: 102, leg: agent, exits: { answered: end, refused: end } }`,
    '4:20: "hold_music" alone is no duration; write hold_music: { duration: 20s }',
    '5:14: "call" must be settings: to, address, caller_id, caller_name, timeout, mode, use_intercom, binding, headers, dtmf_proto, ringback, sounds, pre_answer, pre_answer_timeout, pre_answer_args, report_as; write call: { to: 102 }',
  ],
  [
    'parameters of which the values are given, and a schedule that gives none',
    `parameters: { n: string, k: [a, b] }
starts: { schedule: "0 9 * * *" }
start: a
blocks:
  a: { log: "\${n}", next: end }`,
    '2:29: the parameter "k" has no type; write k: { type: string, values: [...] }',
    '3:11: the parameter "n" is not given; write schedule: { cron: "0 9 * * *", args: { n: ... } }',
    '3:11: the parameter "k" is not given; write schedule: { cron: "0 9 * * *", args: { k: ... } }',
  ],
  [
    'what needs a call that is over',
    `start: a
finally: f
on: { hangup: h }
blocks:
  a: { answer: , next: b }
  b: { refer: "102", exits: { answered: c, refused: end } }
  c: { play: "silence:1s", next: end }
  f: { say: bye, next: end }
  h: { tone: beep, next: end }`,
    '8:3: "play" needs the call, which has ended; move it before that, or change the exit',
    '9:3: warning: "say" needs the call, which has ended when `finally` follows a hang-up; check first: if: call.state == "connected"; or name the exit error',
    '10:3: "tone" needs the call, which has ended; move it before that, or change the exit',
  ],
  [
    'calls in place of the one that the scenario has',
    `parameters: { call_id: string }
start: a
blocks:
  a: { answer: , next: b }
  b: { call: { to: "102" }, exits: { answered: c, refused: end } }
  c: { take_over: { dialogid: "\${call_id}", side: b }, exits: { taken: d, refused: end, error: end } }
  d: { take_over: { dialogid: "\${call_id}", side: b }, exits: { taken: e, refused: end } }
  e: { call: { to: "102" }, leg: bob, exits: { answered: end, refused: end } }`,
    '6:3: "call" without `leg` is for a scenario that has no caller; name the further call: leg: other, beside call',
    '8:3: "take_over" without `leg` is for a scenario that has no caller; name the further call: leg: other, beside take_over',
  ],
  [
    'sound before the answer',
    `start: a
blocks:
  a: { play: "silence:1s", next: b }
  b: { answer: , next: end }`,
    '4:3: "play" needs the call to be answered, but `answer` comes later; answer first',
  ],
  [
    'sound that may come before the answer, in a scenario that asks for the state of the call',
    `start: a
blocks:
  a: { if: call.state == "incoming", exits: { then: c, else: b } }
  b: { menu: { prompt: "silence:1s" }, exits: { 1: end, failed: c } }
  c: { answer: , next: b }`,
    '5:3: warning: "menu" needs the call to be answered, but `answer` comes later; answer first',
  ],
  [
    'a block with the name of a part of the language, which its readers do not repeat',
    `start: a
blocks:
  a: { answer: , next: event }
  event: { collect: { prompt: "silence:1s", max: 3 }, exits: { next: b, timeout: c } }
  b: { log: "\${event.digits}", next: c }
  c: { if: event.digits == "1", exits: { then: event, else: d } }
  d: { play: "say:\${event.digits}", next: end }`,
    '5:3: "event" is already the name of a part of the language; choose another name',
  ],
  [
    'blocks with names that are reserved or no names',
    `start: a
blocks:
  a: { answer: , next: if }
  if: { collect: { prompt: "silence:1s", max: 3 }, exits: { next: my-block, timeout: end } }
  my-block: { menu: { prompt: "silence:1s" }, exits: { 1: b, failed: b } }
  b: { log: "\${if.digits} \${my-block.digit}", next: end }`,
    '5:3: "if" cannot be the name of a block: the word is reserved; write if_1 or another name',
    '6:3: "my-block" cannot be the name of a block: letters, digits and _ only, first a letter; write my_block',
  ],
  [
    'variables with names of the language, or of blocks',
    `variables: { call: 0 }
start: a
blocks:
  a: { answer: , next: b }
  b: { collect: { prompt: "silence:1s", max: 3 }, exits: { next: c, timeout: c } }
  c: { set: { call: "\${call + 1}", event: 1, b: 2 }, next: d }
  d: { log: "\${call} \${b.digits} \${event.name}", next: end }`,
    '2:14: "call" is already the name of a part of the language; choose another name',
    '7:36: "event" is a part of the language; set a variable of your own',
    '7:46: "b" is a block and no variable; set a variable of your own',
  ],
  [
    'a forgotten colon between braces',
    `start: a
blocks:
  a: { answer: , next b }
  b: { play: "silence:1s", exits: next c }
  c: { log: x, next: end }`,
    '4:18: "next b" has no colon; write next: b',
    '5:35: exits must be a map; write exits: { next: c }',
    '6:3: the block "c" is never reached; connect an exit to it or remove it',
  ],
  [
    'a forgotten colon on a line of its own',
    `start: a
blocks:
  a:
    answer:
    next b
  b: { log: x, next: end }`,
    '6:5: not valid YAML: implicit map keys need to be followed by map values; a colon is missing: write next: b',
  ],
  [
    'filters that the data model refuses',
    `start: a
blocks:
  a: { model_list: { class: x, filter: [nonsense, 3] }, next: b }
  b: { model_list: { class: x, filter: ["=="] }, next: c }
  c: { model_list: { class: x, filter: ["==", ["property", "city"], "London"] }, next: d }
  d: { model_list: { class: x, filter: ["==", ["property", "city"], "\${call.number}"] }, next: end }`,
    '4:8: filter[0] names no function: "nonsense"',
    '5:8: filter equal takes 2 arguments, not 0',
  ],
  [
    'starts with arguments that the scenario does not have',
    `parameters: { who: string, n: { type: integer, default: 1 } }
starts: { schedule: { cron: "0 25 * * *", timezone: Mars/One, args: { whom: x, n: many } } }
start: a
blocks:
  a: { log: "\${who}", next: end }`,
    '3:29: "25" is no hour (0 to 23)',
    '3:53: there is no time zone "Mars/One"; e.g. Europe/London',
    '3:63: the parameter "who" is not given; add args: { who: ... }',
    '3:71: the scenario has no parameter "whom"; did you mean "who"?',
    '3:83: the parameter "n" must be of type integer',
  ],
  [
    'itself as fallback',
    `fallback: x
start: a
blocks:
  a: { hangup: }`,
    '2:11: the scenario cannot be its own fallback; write the id of another one',
  ],
  [
    'an object as a variable',
    `variables: { m: { a: 1 } }
start: a
blocks:
  a: { hangup: }`,
    '2:17: the variable "m" has no type; write m: { type: object, value: {...} }',
  ],
  [
    'tabs',
    'start: a\nblocks:\n\ta: { hangup: }',
    '4:1: not valid YAML: tabs are not allowed as indentation; indent with spaces',
  ],
  [
    'keys of a telephone without quotes',
    `start: a
blocks:
  a: { menu: { prompt: "silence:1s" }, exits: { *: end, failed: end } }`,
    '4:52: not valid YAML: missing , or : between flow map items; put quotes around * and #, e.g. "*": BLOCK',
  ],
  [
    'placeholders of other systems',
    `variables: { n: 0, name: x }
start: a
blocks:
  a: { collect: { max: 1 }, exits: { next: b, timeout: b } }
  b: { say: "{a.digits} {{ n }} %n% #{n} $(n) $name {a} {a.digit}", next: c }
  c: { say: "\${n} of {n}", next: d }
  d: { wait: "{n}s", next: e }
  e: { play: "{{name}}.wav", next: f }
  f: { set: { n: "{n}", name: "%name%" }, next: g }
  g: { if: "{n} < 3", exits: { then: h, else: h } }
  h: { publish: { event: x, data: { t: "%a.digits%" } }, next: i }
  i:
    log:
      first line
      {n} there
    next: end`,
    '6:14: warning: "{a.digits}" is plain text here; write ${a.digits} for its value',
    '6:25: warning: "{{ n }}" is plain text here; write ${n} for its value',
    '6:33: warning: "%n%" is plain text here; write ${n} for its value',
    '6:37: warning: "#{n}" is plain text here; write ${n} for its value',
    '6:42: warning: "$(n)" is plain text here; write ${n} for its value',
    '6:47: warning: "$name" is plain text here; write ${name} for its value',
    '6:53: warning: "{a}" is plain text here; write ${a.digits} for its value',
    '6:57: warning: "{a.digit}" is plain text here; write ${a.digits} for its value',
    '7:22: warning: "{n}" is plain text here; write ${n} for its value',
    '8:14: "wait" is no duration; write ${n} for its value',
    '9:14: there is no prompt "{{name}}.wav"; write ${name} for its value',
    '10:18: this is a text, and no integer; write ${n} for its value',
    '10:32: warning: "%name%" is plain text here; write ${name} for its value',
    '11:13: this is not valid syntax; write n, without braces',
    '12:41: warning: "%a.digits%" is plain text here; write ${a.digits} for its value',
    '16:7: warning: "{n}" is plain text here; write ${n} for its value',
  ],
  [
    'names in braces without quotes',
    `variables: { n: 0, name: x }
start: a
blocks:
  a: { say: {n}, next: b }
  b: { say: {{n}}, next: c }
  c: { set: { name: {name} }, next: d }
  d: { publish: { event: x, data: { n: {n} } }, next: end }`,
    '5:13: this is a map, in which "n" is empty; write "${n}" for its value',
    '6:13: this is a map, in which "n" is empty; write "${n}" for its value',
    '7:21: this is a map, in which "name" is empty; write "${name}" for its value',
    '8:40: this is a map, in which "n" is empty; write "${n}" for its value',
  ],
  [
    'signs that a text cannot begin with',
    `start: a
blocks:
  a:
    say: %n%
    next: end`,
    '5:10: not valid YAML: plain value cannot start with directive indicator character %; put quotes around this text',
  ],
  [
    'a text that begins with braces',
    `variables: { n: 0 }
start: a
blocks:
  a:
    say: {n} messages
    next: end`,
    '6:14: not valid YAML: unexpected scalar at node end; put quotes around a text that begins with { or [',
  ],
  [
    'keys at the wrong place',
    `start: a
blocks:
  a: { if: call.number == "1", then: b, else: b }
  b:
    play: "silence:1s"
    repeat: 2
    next: c
  c: { switch: "\${call.number}", cases: { 1: d }, default: d }
  d: { say: Hello, world, next: e }
  e:
    answer:
     next: f
  f: { hangup: , exits: end }
  next: end`,
    '4:3: the exit "then" of the block "a" has no target; add exits: {then: BLOCK}, or connect it to end',
    '4:3: the exit "else" of the block "a" has no target; add exits: {else: BLOCK}, or connect it to end',
    '4:32: a block has no "then"; write exits: { then: b }',
    '4:41: a block has no "else"; write exits: { else: b }',
    '7:5: a block has no "repeat"; it is a setting: write play: { repeat: ... }',
    '9:3: the exit "else" of the block "c" has no target; add exits: {else: BLOCK}, or connect it to end',
    '9:8: "switch" has no value: name an exit by one, e.g. exits: {sales: ring_sales, else: end}',
    '9:34: a block has no "cases"; write exits: { VALUE: BLOCK, else: BLOCK }',
    '9:51: a block has no "default"; write exits: { else: BLOCK }',
    '10:20: a block has no "world"; put quotes around a text with a comma in it',
    '11:3: the exit "next" of the block "e" has no target; add next: BLOCK, or connect it to end',
    '13:6: "answer" has no setting "next"; write it beside answer, as deep as that',
    '14:3: the block "f" is never reached; connect an exit to it or remove it',
    '14:25: exits must be a map; write next: end',
    '15:9: the block "next" names no component; it belongs to the block above: indent it as the component there',
  ],
  [
    'values in another form than the one that is wanted',
    `parameters: { f: { type: boolean, default: "true" }, p: { type: string, values: a } }
start: a
blocks:
  a: { hunt: { members: "102, 103", strategy: in_order }, exits: { answered: b, failed: b } }
  b: { record: { beep: yes }, next: c }
  c: { loop: 3, exits: { each: c, done: d } }
  d: { webhook: https://x.example/, next: e }
  e: { loop: { times: "3" }, exits: { each: e, done: end } }
`,
    '2:44: the default of "f" is no boolean; write it without quotes',
    '2:81: the values of "p" must be a list; write values: [a, b]',
    '5:25: "members" must be a list, not "102, 103"; write ["102", "103"]',
    '6:24: "beep" must be true or false, not "yes"; write true',
    '7:14: "loop" must be settings: over, times; write loop: { times: 3 }',
    '8:17: "webhook" must be settings: url, event, data, headers; write webhook: { url: https://x.example/ }',
    '9:23: "times" must be a whole number from 0 to 100000, not "3"; write it without quotes',
  ],
  [
    'expressions as other languages have them',
    `parameters: { who: string }
variables: { n: 0, l: [1], m: { type: object } }
start: a
blocks:
  a: { set: { n: n + 1, l: "\${l.push(1)}" }, next: b }
  b: { set: { n: "\${n} + 1", m.x: 1, who: x }, next: c }
  c: { set: { n += 1: , pin: 1 }, next: d }
  d: { if: args.who == yes, exits: { then: e, else: e } }
  e: { if: pin == no && call.number == "", exits: { then: f, else: f } }
  f: { log: "\${call.number ?? who}", next: g }
  g: { if: "'1' in call.number", exits: { then: h, else: h } }
  h: { log: "\${l.map(x => x)} \${who ? 1 : 2} \${n++}", next: end }`,
    '6:18: the variable "n" is of type integer, but this is of type string; write "${n + 1}"',
    '6:33: there is no function "push"; write list + [item]',
    '7:18: the variable "n" is of type integer, but this is of type string; write "${n + 1}"',
    '7:30: there is no variable "m.x"; a map is set as a whole: write m: { ... }',
    '7:38: "who" cannot be assigned; set a variable of your own',
    '8:15: there is no variable "n += 1"; write n: "${n + ...}"',
    '8:25: there is no variable "pin"; there is: n, l, m',
    '9:12: unknown name "args"; write who by itself',
    '9:24: unknown name "yes"; write "yes" if it is a text',
    '10:19: unknown name "no"; write "no" if it is a text',
    '11:28: this is not valid syntax; write call.number == "" ? other : call.number',
    '12:13: these types do not go together: string in string; write text.contains("x")',
    '13:24: this is not valid syntax; write list.map(x, x + 1)',
    '13:33: a value of type string is not true or false; compare it, e.g. with == ""',
    '13:49: this is not valid syntax; write + 1, and give the value to a variable by set',
  ],
  [
    'exits that there are not, and nothing of the blocks behind them',
    `start: a
blocks:
  a: { collect: { max: 1 }, exits: { success: b, timeout: end } }
  b: { log: "\${a.digits}", next: end }`,
    '4:3: the exit "next" of the block "a" has no target; add next: BLOCK, or connect it to end',
    '4:38: "collect" has no exit "success"; there is: next, timeout, error',
  ],
  [
    'names as values of their own',
    `variables: { n: 0 }
start: a
blocks:
  a: { script: { code: "vars.n = vars.n + 1", vars: { n: n } }, next: b }
  b: { publish: { event: x, data: { m: call.number } }, next: end }`,
    '5:58: warning: this is the text "n"; write ${n} for its value',
    '6:40: warning: this is the text "call.number"; write ${call.number} for its value',
  ],
  [
    'a comment within braces',
    `start: a
blocks:
  a: { record: { stop_digits: #, beep: true }, next: b }
  b: { log: "\${a.recording}", next: end }`,
    '5:3: not valid YAML: flow map in block collection must be sufficiently indented and end with a }; put quotes around #: what follows it is a comment',
  ],
  [
    'a line that is indented deeper than the one it belongs to',
    `start: a
blocks:
  a:
   answer: b
    next: end`,
    '5:12: not valid YAML: nested mappings are not allowed in compact mappings; the next line is indented deeper: write both equally deep',
  ],
  [
    'quotes that are never closed',
    `start: a
blocks:
  a:
    say: 'hello
    next: b
  b: { hangup: , next: end }`,
    "5:10: not valid YAML: missing closing ' quote; close it on the same line",
  ],
  [
    'a blank that is missing behind a colon',
    `start: a
blocks:
  a:
    answer:
    next:b
  b: { hangup: , next: end }`,
    '6:5: not valid YAML: implicit map keys need to be followed by map values; put a blank behind the colon',
  ],
  [
    'a map without braces',
    `start: a
blocks:
  a:
    answer:
    exits: next: end`,
    '6:12: not valid YAML: nested mappings are not allowed in compact mappings; write exits: { next: end }',
  ],
  [
    'a misspelt section, and nothing of its being missing',
    `Start: a
block:
  a: { say: "", next: b }
  b: { play: "", leg: caller, next: c }
  c: { wait: 0.5, next: end }
name: [x]`,
    '2:1: a scenario has no section "Start"; did you mean "start"?',
    '3:1: a scenario has no section "block"; did you mean "blocks"?',
    '4:13: "say" must be a text of 1 to 4096 characters, not ""',
    '5:14: the sound is empty; name a prompt, tone:... or silence:...',
    '5:23: no call has the name "caller"; take it out: without it a block is for the caller',
    '6:14: "wait" is no duration; write 0.5s for seconds or 0.5ms for milliseconds',
    '7:7: "name" must be a text; put it in quotes',
  ],
  [
    'a loop that begins again when it is done',
    `start: a
blocks:
  a: { loop: { times: 3 }, exits: { each: b, done: c } }
  b: { loop: { times: 3 }, exits: { each: b, done: a } }
  c: { log: again, next: a }`,
    '4:3: warning: these blocks loop without a wait: a, c; count with loop, or add a wait',
  ],
  [
    'literals of another type than the variable',
    `variables: { n: 1, flag: true, l: [1], t: x }
start: a
blocks:
  a: { set: { n: "2", flag: 1, l: b, t: 3 }, next: end }`,
    '5:18: the variable "n" is of type integer, but this is of type string; write it without quotes',
    '5:29: the variable "flag" is of type boolean, but this is of type integer; write true or false',
    '5:35: the variable "l" is of type list, but this is of type string; write ["b"]',
    '5:41: the variable "t" is of type string, but this is of type integer; put it in quotes',
  ],
  [
    'two scenarios in one file',
    `start: a
blocks:
  a: { hangup: }
---
id: y`,
    '5:1: the file holds more than one document; write one scenario into one file, without ---',
  ],
];

const FINE: readonly (readonly [what: string, source: string])[] = [
  [
    'numbers, truth values and unknown values as texts',
    `variables: { n: 1, ok: true, l: [1] }
start: a
blocks:
  a: { log: "\${n}", next: b }
  b: { say: "\${ok}", next: c }
  c: { refer: "\${l[0]}", exits: { refused: end } }`,
  ],
  [
    'braces and signs that stand for no name',
    `variables: { n: 1 }
start: a
blocks:
  a: { log: "{x} {{y.z}} 100%n 5 %d $5 $\${n} a$n {1} \${n % 2}", next: b }
  b: { http: { url: "https://a.example/{id}", method: POST, body: { n: , t: "{}" } }, next: end }`,
  ],
  [
    'a number without a fraction yet',
    `variables: { total: 0.0 }
start: a
blocks:
  a: { set: { total: "\${total + 0.5}" }, next: end }`,
  ],
  [
    'a condition with ${}',
    `start: a
blocks:
  a: { if: "\${call.number == '1'}", exits: { then: end, else: end } }`,
  ],
  [
    'a call in `finally` after asking',
    `start: a
finally: f
blocks:
  a: { answer: , next: end }
  f: { if: call.state == "connected", exits: { then: g, else: end } }
  g: { say: bye, next: end }`,
  ],
  [
    'a call with a name, made again, and one that could not be made',
    `start: a
blocks:
  a: { call: { to: "1", caller_id: "2" }, leg: other, exits: { answered: end, refused: b } }
  b: { wait: 1m, next: c }
  c: { call: { to: "1", caller_id: "2" }, leg: other, exits: { answered: end, refused: b, error: d } }
  d: { call: { to: "3", caller_id: "2" }, exits: { answered: end, refused: end } }`,
  ],
  [
    'another leg after the caller has gone',
    `start: a
blocks:
  a: { answer: , next: b }
  b: { call: { to: "1", caller_id: "2" }, leg: agent, exits: { answered: c, refused: end } }
  c: { hangup: , next: d }
  d: { say: hello, leg: agent, next: end }`,
  ],
  [
    'blocks with the names of components',
    `start: answer
blocks:
  answer: { answer: , next: play }
  play: { play: "silence:1s", next: end }`,
  ],
];

describe('hints of the scenario checker', () => {
  for (const [what, source, ...found] of CASES)
    it(what, () => {
      expect(problems(`id: x\n${source}\n`)).to.deep.equal(found);
    });
});

describe('the scenario checker has no problem with', () => {
  for (const [what, source] of FINE)
    it(what, () => {
      expect(problems(`id: x\n${source}\n`)).to.deep.equal([]);
    });
});
