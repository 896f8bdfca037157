import { expect } from 'chai';
import type { CallScript } from '../../runtime/workbench/simulation/call-script.ts';
import { problems, simulate } from '../support/scenarios.ts';

/** A scenario that answers and then runs one block, `it`, whose exits all end the run. */
function answered(block: string): string {
  const lines = block.split('\n').map((line) => `    ${line}`);
  return [
    'id: t',
    'start: pick_up',
    'blocks:',
    '  pick_up:',
    '    answer:',
    '    next: it',
    '  it:',
    ...lines,
    '',
  ].join('\n');
}

/** What happens to an answered call in all: a run that is over hangs up, unless the block has ended the call. */
function aroundAnswered(events: readonly string[]): string[] {
  const over = events.some((event) => event.startsWith('ended by'));
  return ['answer', ...events, ...(over ? [] : ['hangup', 'ended by scenario: hangup'])];
}

const outgoing = (settings: string, exits: string) =>
  `id: t\nstart: it\nblocks:\n  it:\n    call: { to: "101", caller_id: "100"${settings} }\n    exits: { ${exits} }\n`;
const OUTGOING_EXITS = 'answered: end, busy: end, no_answer: end, refused: end';

describe('leg_dtmf', () => {
  it('reaches the caller of the scenario itself, by the ids that it has', async () => {
    const keys = 'leg_dtmf: { dialogid: "${call.dialogid}", callid: "${call.callid}", dtmf: "1" }\nnext: end';
    const { steps } = await simulate(answered(keys));
    expect(steps).to.deep.equal(['pick_up -> next', 'it -> next']);
  });
});

describe('send_sip', () => {
  const notify = (event: string) =>
    answered(`send_sip: { method: NOTIFY, event: ${event} }\nexits: { next: end, refused: end }`);

  it('takes the event of a NOTIFY from an expression, which must give one', async () => {
    const { steps } = await simulate(notify('"${call.number}"'), { from: '101' });
    expect(steps).to.deep.equal(['pick_up -> next', 'it -> next']);
    expect((await simulate(notify('"${call.name}"'), {})).outcome.error).to.include({ code: 'setting', block: 'it' });
    expect(problems(notify('""'))[0]).to.match(/with NOTIFY needs "event"/);
  });
});

describe('components', () => {
  const table: readonly {
    readonly what: string;
    readonly source: string;
    readonly script?: CallScript;
    readonly exit: string;
    readonly result?: object;
    readonly events?: readonly string[];
    readonly milliseconds?: number;
  }[] = [
    {
      what: 'play plays a list, several times',
      source: answered('play: { sounds: [welcome.wav, "silence:500ms", "tone:%(1,2,3)"], repeat: 2 }\nnext: end'),
      exit: 'next',
      result: { digit: '' },
      events: ['play welcome.wav silence:500ms tone:%(1,2,3) (2 times)'],
      milliseconds: 5000,
    },
    {
      what: 'a menu whose prompt is spoken',
      source: answered(
        'menu: { prompt: ["say:Press 1, please.", "say[de]: Oder 2: bitte"], tries: 1 }\nexits: { 1: end, failed: end }',
      ),
      script: {
        turns: [
          { kind: 'hear', sound: 'Oder 2: bitte' },
          { kind: 'press', digits: '1' },
        ],
      },
      exit: '1',
      events: ['prompt Press 1, please. Oder 2: bitte', 'pressed 1'],
    },
    {
      what: 'play stops at a digit',
      source: answered('play: { sounds: welcome.wav, stop_digits: "12" }\nexits: { next: end, digit: end }'),
      script: { presses: ['2'] },
      exit: 'digit',
      result: { digit: '2' },
      milliseconds: 200,
    },
    {
      what: 'play goes on when another digit is pressed',
      source: answered('play: { sounds: welcome.wav, stop_digits: "1" }\nnext: end'),
      script: { presses: ['2'] },
      exit: 'next',
      result: { digit: '' },
    },
    {
      what: 'recognise hears what is said, after the prompt',
      source: answered('recognise: { prompt: welcome.wav, timeout: 3s }\nexits: { heard: end, silence: end }'),
      script: { turns: [{ kind: 'say', text: 'good morning' }] },
      exit: 'heard',
      result: { text: 'good morning', milliseconds: 720 },
    },
    {
      what: 'recognise understands only its hints',
      source: answered('recognise: { hints: ["yes", "no"] }\nexits: { heard: end, silence: end, failed: end }'),
      script: { turns: [{ kind: 'say', text: 'perhaps' }] },
      exit: 'failed',
      result: { text: '', milliseconds: 420 },
    },
    {
      what: 'recognise leaves by silence when nobody speaks',
      source: answered('recognise: { prompt: welcome.wav, timeout: 3s }\nexits: { heard: end, silence: end }'),
      exit: 'silence',
      result: { text: '', milliseconds: 0 },
      milliseconds: 4000,
    },
    {
      what: 'collect takes as many digits as it may',
      source: answered('collect: { max: 3 }\nexits: { next: end, timeout: end }'),
      script: { presses: ['12345'] },
      exit: 'next',
      result: { digits: '123', terminator: '' },
    },
    {
      what: 'collect ends at a terminator',
      source: answered('collect: { max: 5 }\nexits: { next: end, timeout: end }'),
      script: { presses: ['12#'] },
      exit: 'next',
      result: { digits: '12', terminator: '#' },
    },
    {
      what: 'collect takes too few digits for none',
      source: answered('collect: { min: 3, max: 5 }\nexits: { next: end, timeout: end }'),
      script: { presses: ['12#'] },
      exit: 'timeout',
      result: { digits: '12', terminator: '#' },
    },
    {
      what: 'collect times out',
      source: answered('collect: { prompt: menu.wav, max: 5, timeout: 7s }\nexits: { next: end, timeout: end }'),
      exit: 'timeout',
      result: { digits: '', terminator: '' },
      events: ['prompt menu.wav'],
      milliseconds: 8000,
    },
    {
      what: 'collect is content with silence when no digit is needed',
      source: answered('collect: { min: 0, max: 5 }\nexits: { next: end, timeout: end }'),
      exit: 'next',
      result: { digits: '', terminator: '' },
    },
    {
      what: 'menu leaves by the key that was pressed',
      source: answered('menu: { intro: welcome.wav, prompt: menu.wav }\nexits: { 1: end, 2: end, failed: end }'),
      script: { presses: ['2'] },
      exit: '2',
      result: { digit: '2', tries: 1 },
      events: ['prompt welcome.wav menu.wav', 'pressed 2'],
    },
    {
      what: 'menu asks again after a wrong key and after silence',
      source: answered('menu: { prompt: menu.wav, invalid: invalid.wav }\nexits: { 1: end, "*": end, failed: end }'),
      script: { presses: ['9', '', '*'] },
      exit: '*',
      result: { digit: '*', tries: 3 },
      events: ['prompt menu.wav', 'pressed 9', 'prompt invalid.wav menu.wav', 'prompt menu.wav', 'pressed *'],
    },
    {
      what: 'menu gives up',
      source: answered('menu: { prompt: menu.wav, invalid: invalid.wav, tries: 2 }\nexits: { 1: end, failed: end }'),
      script: { presses: ['9', 'E'] },
      exit: 'failed',
      result: { digit: 'E', tries: 2 },
      events: ['prompt menu.wav', 'pressed 9', 'prompt invalid.wav menu.wav', 'pressed E', 'play invalid.wav'],
    },
    {
      what: 'echo ends after its time',
      source: answered('echo: 30s\nnext: end'),
      exit: 'next',
      milliseconds: 30_000,
      events: ['echo'],
    },
    {
      what: 'echo ends with the call',
      source: answered('echo:\nnext: end'),
      script: { hangsUpAfter: 4000 },
      exit: 'interrupted',
      milliseconds: 4000,
    },
    { what: 'wait waits', source: answered('wait: 1.5s\nnext: end'), exit: 'next', milliseconds: 1500 },
    {
      what: 'answer leaves a connected call as it is',
      source: answered('answer:\nnext: end'),
      exit: 'next',
      events: [],
    },
    {
      what: 'reject refuses with a status',
      source: 'id: t\nstart: it\nblocks:\n  it:\n    reject: 603\n',
      exit: 'next',
      events: ['reject 603 Decline', 'ended by scenario: rejected 603'],
    },
    {
      what: 'ring says that it rings',
      source: 'id: t\nstart: it\nblocks:\n  it:\n    ring:\n    next: end\n',
      exit: 'next',
      events: ['ring', 'reject 480 Temporarily Unavailable', 'ended by scenario: rejected 480'],
    },
    {
      what: 'hangup refuses a call that was not answered',
      source: 'id: t\nstart: it\nblocks:\n  it:\n    hangup:\n',
      exit: 'next',
      events: ['reject 480 Temporarily Unavailable', 'ended by scenario: rejected 480'],
    },
    {
      what: 'call waits for the answer',
      source: outgoing('', OUTGOING_EXITS),
      script: { direction: 'outgoing' },
      exit: 'answered',
      result: { status: 200, last_response: 'SIP/2.0 200 OK', callid: 'ivr@simulation', dialogid: 'dialog-1' },
      milliseconds: 1000,
    },
    {
      what: 'call knows busy',
      source: outgoing('', OUTGOING_EXITS),
      script: { direction: 'outgoing', dialled: [{ after: 10, status: 486 }] },
      exit: 'busy',
    },
    {
      what: 'call knows no answer',
      source: outgoing(', timeout: 5s', OUTGOING_EXITS),
      script: { direction: 'outgoing', dialled: [{ after: 10, status: 180 }] },
      exit: 'no_answer',
      milliseconds: 5000,
    },
    {
      what: 'call knows other refusals',
      source: outgoing('', OUTGOING_EXITS),
      script: { direction: 'outgoing', dialled: [{ after: 10, status: 404 }] },
      exit: 'refused',
    },
    {
      what: 'call in mode provisional goes on when it rings, and is hung up with the run',
      source: outgoing(', mode: provisional', 'next: end, refused: end'),
      script: { direction: 'outgoing', dialled: [{ after: 10, status: 180 }] },
      exit: 'next',
      events: ['dial 101', 'hangup', 'ended by scenario: hangup'],
    },
    {
      what: 'refer hands the call over',
      source: answered('refer: { to: "102" }\nexits: { refused: end }'),
      exit: 'answered',
      result: { status: 200, last_response: 'SIP/2.0 200 OK', callid: 'a@simulation', dialogid: 'dialog-2' },
      events: ['refer 102', 'ended by transfer: transferred'],
    },
    {
      what: 'refer gets the call back when the target refuses',
      source: answered('refer: { to: "102" }\nexits: { refused: end }'),
      script: { target: [{ after: 10, status: 486 }] },
      exit: 'busy',
      events: ['refer 102', 'hangup', 'ended by scenario: hangup'],
    },
  ];

  for (const { what, source, script = {}, exit, result, events, milliseconds } of table) {
    it(what, async () => {
      const { run, outcome, events: happened } = await simulate(source, script);
      const entry = run.trace.find(({ block }) => block === 'it');
      expect(entry?.exit).to.equal(exit);
      if (result) expect(entry?.result).to.deep.equal(result);
      if (events) expect(happened).to.deep.equal(source.includes('pick_up') ? aroundAnswered(events) : events);
      if (milliseconds !== undefined) expect(entry?.milliseconds).to.equal(milliseconds);
      expect(outcome.error).to.equal(undefined);
    });
  }

  it('call and refer are cancelled with the run, and answers still reach the trace', async () => {
    const { run, outcome } = await simulate(
      outgoing('', OUTGOING_EXITS),
      { direction: 'outgoing', dialled: [{ after: 10, status: 180 }] },
      { during: (live, clock) => void clock.sleep(2000, new AbortController().signal).then(() => live.stop('enough')) },
    );
    expect(outcome).to.deep.include({ status: 'stopped', milliseconds: 2000 });
    expect(run.trace[0]?.answers?.map(({ at, party, line }) => `${at} ${party} ${line}`)).to.deep.equal([
      '10 101 SIP/2.0 180 Ringing',
      '2000 101 SIP/2.0 487 Request Terminated',
    ]);
  });
});
