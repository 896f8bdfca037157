import { expect } from 'chai';
import { GuardedHttpClient } from '../../components/http/client.ts';
import type { Log } from '../../runtime/runs/log.ts';
import type { RunServices } from '../../runtime/runs/ports/services.ts';
import { startRun } from '../../runtime/runs/run/start-run.ts';
import type { CallScript } from '../../runtime/workbench/simulation/call-script.ts';
import { SimulatedCall } from '../../runtime/workbench/simulation/simulated-call.ts';
import { type PhoneScript, Phones } from '../../runtime/workbench/simulation/phones.ts';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import type { Value } from '../../runtime/language/values.ts';
import { problems, program, silentLog, services as servicesWith } from '../support/scenarios.ts';

interface Played {
  readonly exit: string | undefined;
  readonly result: Readonly<Record<string, Value>> | undefined;
  readonly error: string | undefined;
  readonly events: readonly string[];
  readonly milliseconds: number | undefined;
}

/** Answers a call and runs one block, `it`, whose exits all end the run; tells what the block did. */
async function play(
  block: string,
  {
    script = {},
    http = {},
    phones = {},
    services,
    log = silentLog,
  }: {
    script?: CallScript;
    http?: Record<string, Value>;
    phones?: Record<string, PhoneScript>;
    services?: RunServices;
    log?: Log;
  } = {},
): Promise<Played> {
  const lines = block.split('\n').map((line) => `    ${line}`);
  const source = [
    'id: t',
    'start: pick_up',
    'blocks:',
    '  pick_up:',
    '    answer:',
    '    next: it',
    '  it:',
    ...lines,
    '',
  ];
  const clock = new VirtualClock();
  const events: string[] = [];
  const note = (what: string): void => void events.push(what);
  const call = new SimulatedCall(clock, { ...script, onEvent: ({ what }) => note(what) });
  const run = startRun(program(source.join('\n')), {
    call,
    clock,
    log,
    services: services ?? simulatedServices({ clock, http, phones: new Phones(phones), note }),
  });
  await clock.run(run.finished);
  const entry = run.trace.find(({ block: name }) => name === 'it');
  return {
    exit: entry?.exit,
    result: entry?.result,
    error: entry?.error?.code,
    milliseconds: entry?.milliseconds,
    events: events.filter((event) => !/^(answer$|hangup$|ended)/.test(event)),
  };
}

const HUNT = 'exits: { answered: end, failed: end }';
const busy = { answers: [{ after: 50, status: 486 }] };
const late = { answers: [{ after: 3000, status: 200 }] };

describe('components that use services', () => {
  it('tone plays whole rounds', async () => {
    expect(await play('tone: { tone: busy, duration: 2500ms }\nnext: end')).to.deep.include({
      exit: 'next',
      events: ['play tone:%(500,500,425) (3 times)'],
    });
  });

  it('say speaks, and a digit ends it', async () => {
    const result = await play('say: { text: "Hello there", stop_digits: "1" }\nnext: end', {
      script: { presses: ['1'] },
    });
    expect(result).to.deep.include({ exit: 'digit', result: { digit: '1' }, events: ['say Hello there', 'pressed 1'] });
  });

  describe('send_message', () => {
    const message = (to: string, text = 'hello'): string =>
      `send_message: { to: "${to}", from: "100", text: "${text}" }\nexits: { delivered: end, refused: end, unreachable: end }`;
    const taken = { result: { status: 200, last_response: 'SIP/2.0 200 OK' } };
    const phones = {
      busy: { answers: [{ after: 50, status: 486 }] },
      rude: { answers: [{ after: 50, status: 603 }] },
      away: { answers: [{ after: 50, status: 480 }] },
      silent: { answers: [{ after: 0, status: 180 }] },
    };

    it('is delivered to whoever is there, busy or not', async () => {
      expect(await play(message('101'))).to.deep.include({
        ...taken,
        exit: 'delivered',
        events: ['message 101 hello'],
      });
      expect(await play(message('busy'), { phones })).to.deep.include({ ...taken, exit: 'delivered' });
    });

    it('tells a refusal from nobody there', async () => {
      expect((await play(message('rude'), { phones })).exit).to.equal('refused');
      expect((await play(message('away'), { phones })).exit).to.equal('unreachable');
      expect(await play(message('silent'), { phones })).to.deep.include({ exit: 'unreachable', milliseconds: 20_000 });
    });

    it('counts octets, not characters, when the text is known and when it is not', async () => {
      const scenario = (length: number, text: string): string =>
        [
          'id: t',
          `variables: { long: "${'é'.repeat(length)}" }`,
          'start: it',
          'blocks:',
          '  it:',
          `    send_message: { to: "101", from: "100", text: "${text}" }`,
          '    exits: { delivered: end, refused: end }',
          '',
        ].join('\n');
      const failure = async (length: number): Promise<string | undefined> => {
        const clock = new VirtualClock();
        const call = new SimulatedCall(clock, { direction: 'outgoing' });
        const services = simulatedServices({ clock });
        const run = startRun(program(scenario(length, '${long}xx')), { call, clock, services, log: silentLog });
        await clock.run(run.finished);
        return run.trace.find(({ block }) => block === 'it')?.error?.code;
      };
      expect(await failure(649)).to.equal(undefined);
      expect(await failure(650)).to.equal('text_too_long');
      expect(problems(scenario(1, 'é'.repeat(651))).join()).to.include('1300 octets of UTF-8 at most');
    });
  });

  it('retrieve tells a slot that nobody knows', async () => {
    const said: object[] = [];
    const log = { ...silentLog, warn: (details: object) => void said.push(details) };
    const found = await play('retrieve: "709"\nexits: { empty: end }', { log });
    expect(found).to.deep.include({ exit: 'unknown' });
    expect(found.result).to.deep.include({ status: 404, last_response: 'SIP/2.0 404 Not Found' });
    const text = 'retrieve: nobody is parked in slot 709 of simulation on this node';
    expect(said[0]).to.deep.include({ text });
  });

  it('hold_music ends after its time', async () => {
    expect(await play('hold_music: { duration: 20s }\nnext: end')).to.deep.include({
      exit: 'next',
      milliseconds: 20_000,
    });
  });

  it('send_dtmf sends digits and pauses', async () => {
    const result = await play('send_dtmf: "12,,3"\nnext: end');
    expect(result).to.deep.include({ exit: 'next', milliseconds: 2870, events: ['send digits 12', 'send digits 3'] });
  });

  it('record ends by silence, a digit, or its limit', async () => {
    const say = { kind: 'say', text: 'x'.repeat(50) } as const;
    const by = async (settings: string, ...turns: NonNullable<CallScript['turns']>) =>
      (await play(`record: { beep: false${settings} }\nnext: end`, { script: { turns } })).result;
    expect(await by('', say)).to.deep.include({ reason: 'silence', milliseconds: 3200 });
    expect(await by('', say, { kind: 'press', digits: '#' })).to.deep.include({ reason: 'digit', digit: '#' });
    expect(await by(', max: 3s, silence: 0s', say)).to.deep.include({ reason: 'limit', milliseconds: 3000 });
  });

  describe('hunt', () => {
    it('rings one after another', async () => {
      const phones = { 101: busy, 102: late };
      const result = await play(`hunt: ["101", "102", "103"]\n${HUNT}`, { script: { phones } });
      expect(result).to.deep.include({ exit: 'answered', events: ['refer 101', 'refer 102'] });
      expect(result.result).to.deep.include({ member: '102', tried: 2, status: 200 });
    });

    it('gives up after all rounds, and the other party is back', async () => {
      const result = await play(`hunt: { members: ["101"], rounds: 2 }\n${HUNT}`, {
        script: { phones: { 101: busy } },
      });
      expect(result).to.deep.include({ exit: 'failed', events: ['refer 101', 'refer 101'] });
    });

    it('begins with whose last call is longest ago', async () => {
      const clock = new VirtualClock();
      const services = simulatedServices({ clock });
      services.huntHistory?.note('simulation', '101', 5);
      services.huntHistory?.note('simulation', '102', 3);
      const result = await play(`hunt: { members: ["101", "102", "103"], strategy: least_recent }\n${HUNT}`, {
        services,
        script: { phones: { 103: busy, 102: busy } },
      });
      expect(result.events).to.deep.equal(['refer 103', 'refer 102', 'refer 101']);
      expect(services.huntHistory?.last('simulation', '101')).to.be.greaterThan(5);
    });

    it('rings all at once', async () => {
      const result = await play(`hunt: { members: ["101", "102"], strategy: all_at_once }\n${HUNT}`, {
        script: { phones: { 101: busy, 102: late } },
      });
      expect(result).to.deep.include({ exit: 'answered', milliseconds: 3000 });
      expect(result.result).to.deep.include({ member: '102', tried: 2 });
    });
  });

  describe('http', () => {
    const ask = (block: string, answer: Value) => play(block, { http: { 'GET https://api.example.com/a': answer } });
    const GET = 'http: https://api.example.com/a\nexits: { next: end, refused: end, error: end }';

    it('gives the answer as text and as value', async () => {
      const { exit, result } = await ask(GET, { json: { a: [1] } });
      expect(exit).to.equal('next');
      expect(result).to.deep.include({ status: 200, body: '{"a":[1]}', json: { a: [1] } });
    });

    it('leaves by refused for a status of 400 and above, by error for none', async () => {
      expect(await ask(GET, 404)).to.deep.include({ exit: 'refused', error: undefined });
      expect(await ask(GET, { error: 'http_timeout' })).to.deep.include({ exit: 'error', error: 'http_timeout' });
    });

    it('sends what is no text as JSON', async () => {
      const bodies: unknown[] = [];
      const services = servicesWith({
        http: {
          request: async ({ body, headers }) => {
            bodies.push([body, headers['content-type']]);
            return { status: 204, headers: {}, body: '' };
          },
        },
      });
      await play('http: { url: "https://a.b/", method: POST, body: { n: 1 } }\nnext: end', { services });
      await play('http: { url: "https://a.b/", method: POST, body: plain }\nnext: end', { services });
      expect(bodies).to.deep.equal([
        ['{"n":1}', 'application/json'],
        ['plain', undefined],
      ]);
    });

    it('webhook leaves by error where it would not be sent', async () => {
      const asking = 'webhook: { url: "http://127.0.0.1:1/hook", event: e }\nexits: { next: end, error: end }';
      const services = servicesWith({ http: new GuardedHttpClient({ hosts: ['a.b'], networks: [] }) });
      expect(await play(asking, { services })).to.deep.include({ exit: 'error', error: 'http_forbidden' });
      const http = { 'POST http://127.0.0.1:1/hook': { error: 'http_forbidden' } };
      expect(await play(asking, { http })).to.deep.include({ exit: 'error', error: 'http_forbidden' });
    });

    it('webhook goes on at once, and tries three times', async () => {
      const http = { 'POST https://a.b/hook': [500, { error: 'http_failed' }, 200] };
      const waiting = 'webhook: { url: "https://a.b/hook", event: e }\nnext: end';
      const { exit, milliseconds, events } = await play(waiting, { http });
      expect({ exit, milliseconds, events }).to.deep.equal({
        exit: 'next',
        milliseconds: 0,
        events: ['http POST https://a.b/hook'],
      });
    });
  });

  it('model_write removes nothing without an id, and makes nothing instead', async () => {
    const services = simulatedServices({ clock: new VirtualClock() });
    const removing =
      'model_write: { class: notes, id: "${call.name}", remove: true }\nexits: { next: end, missing: end }';
    expect((await play(removing, { services })).error).to.equal('setting');
    const list = await play('model_list: { class: notes }\nexits: { next: end, empty: end }', { services });
    expect(list.exit).to.equal('empty');
  });

  it('model_write, model_read and model_list work on entities', async () => {
    const services = simulatedServices({ clock: new VirtualClock() });
    const run = (block: string) => play(block, { services });
    const created = await run('model_write: { class: notes, entity: { text: hello } }\nnext: end');
    expect(created.result).to.deep.equal({ id: 'notes-1', created: true });
    const changed = await run(
      'model_write: { class: notes, id: notes-1, entity: { by: me } }\nexits: { next: end, missing: end }',
    );
    expect(changed).to.deep.include({ exit: 'next', result: { id: 'notes-1', created: false } });
    const read = await run('model_read: { class: notes, id: notes-1 }\nexits: { next: end, missing: end }');
    expect(read.result).to.deep.equal({ entity: { id: 'notes-1', text: 'hello', by: 'me' } });
    const list = await run('model_list: { class: notes, filter: { by: you } }\nexits: { next: end, empty: end }');
    expect(list).to.deep.include({ exit: 'empty', result: { entities: [], count: 0 } });
    const removed = await run(
      'model_write: { class: notes, id: notes-1, remove: true }\nexits: { next: end, missing: end }',
    );
    expect(removed.exit).to.equal('next');
    expect((await run('model_read: { class: notes, id: notes-1 }\nexits: { next: end, missing: end }')).exit).to.equal(
      'missing',
    );
  });
});
