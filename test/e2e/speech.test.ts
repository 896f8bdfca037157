import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RestClient } from '../phones/rest-client.ts';
import { OpenAiServer } from '../speech/support/openai-server.ts';
import { speechPeers, spoken, WORDS } from '../speech/support/spoken.ts';
import { VoskServer } from '../speech/support/vosk-server.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS, type Stage, useStage } from '../support/stage.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SETTINGS = '/rest/v1/domain/settings';
const RULES = '/rest/v1/domain/recordingrules';
const RECORDINGS = '/rest/v1/domain/recordings';

interface SpeechEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('speech recognition', () => {
  const stage = useStage();
  let vosk: VoskServer;
  let openai: OpenAiServer;
  let master: RestClient;
  let rest: RestClient;

  before(async () => {
    vosk = await VoskServer.start();
    openai = await OpenAiServer.start();
  });
  before('log in', async function () {
    this.timeout(60_000);
    rest = await stage.rest();
    master = await stage.node.login('admin', 'master');
  });
  afterEach(async () => {
    await configure(undefined);
    for (const path of [RULES, RECORDINGS]) {
      for (const { id } of (await rest.get(path)).json<{ id: string }[]>()) await rest.send('DELETE', `${path}/${id}`);
    }
  });
  after(async () => {
    master.close();
    await vosk.close();
    await openai.close();
  });

  async function configure(value: object | undefined): Promise<void> {
    const known = (await master.get(SETTINGS)).json<{ id: string; key: string }[]>();
    const id = known.find(({ key }) => key === 'record_asr_options')?.id;
    if (id !== undefined) expect((await master.send('DELETE', `${SETTINGS}/${id}`)).status).to.equal(204);
    if (value === undefined) return;
    const answer = await master.send('POST', SETTINGS, { body: { key: 'record_asr_options', value } });
    expect(answer.status, answer.text).to.equal(200);
  }

  const useVosk = (): Promise<void> => configure({ servers: [{ engine: 'vosk', url: vosk.url }] });

  const events = (names: readonly string[]) => eventsOf(stage, rest, names);

  async function setup(dialogid: string, body: Readonly<Record<string, unknown>>) {
    return rest.send('SETUP_ASR', `${CALLS}/${dialogid}`, { body });
  }

  describe('of a live call', () => {
    it('is reported by events, and as text at the end', async () => {
      await useVosk();
      vosk.words = ['hello', 'there'];
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      const { dialogid, inviteid } = await stage.dialog();
      const heard = await events(['asrevents']);
      incoming.play(900);
      const added = await setup(dialogid, { command: 'add', layer: 'caller', side: 'a' });
      expect(added.json(), added.text).to.deep.equal({ result: 'ok', dialogid, layer: 'caller' });
      outgoing.play(500);
      await pause(400);
      outgoing.play(undefined);
      await eventually(
        async () => expect(heard.received.some(({ data }) => data['final'] === true)).to.equal(true),
        4000,
      );
      outgoing.play(500);
      await pause(400);
      const removed = await setup(dialogid, { command: 'remove', layer: 'caller' });
      expect(removed.json(), removed.text).to.deep.equal({
        result: 'ok',
        dialogid,
        layer: 'caller',
        text: 'hello there',
      });
      const finals = heard.received.filter(({ data }) => data['final'] === true);
      expect(
        finals.map(({ type, data }) => [type, data['text'], data['layer'], data['dialogid'], data['inviteid']]),
      ).to.deep.equal([
        ['result', 'hello', 'caller', dialogid, inviteid],
        ['result', 'there', 'caller', dialogid, inviteid],
      ]);
      expect(heard.received.some(({ data }) => data['final'] === false)).to.equal(true);
      expect((await setup(dialogid, { command: 'remove', layer: 'caller' })).status, 'gone').to.equal(422);
      heard.stop();
      await outgoing.hangup();
      await eventually(async () => expect(vosk.connections).to.equal(0));
    });

    it('has one layer for each name, also when it is added several times at once', async () => {
      await useVosk();
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing } = await stage.connect(alice, bob, '102');
      const { dialogid } = await stage.dialog();
      const add = { command: 'add', layer: 'x', side: 'a' };
      const added = await Promise.all([1, 2, 3].map(() => setup(dialogid, add)));
      expect(added.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
      await eventually(async () => expect(vosk.connections).to.equal(1));
      const remove = { command: 'remove', layer: 'x', result_text: false };
      expect((await setup(dialogid, remove)).status).to.equal(200);
      await eventually(async () => expect(vosk.connections).to.equal(0));
      const query = { dry_run: true };
      const again = await rest.send('SETUP_ASR', `${CALLS}/${dialogid}`, { body: remove, query });
      expect(again.status, again.text).to.equal(422);
      await outgoing.hangup();
    });

    it('a layer is replaced when all streams are in use, and a refused replacement keeps it', async () => {
      const only = { servers: [{ engine: 'vosk', url: vosk.url }], parallel_streams: 1 };
      await configure(only);
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      const { dialogid } = await stage.dialog();
      const heard = await events(['asrevents']);
      const add = { command: 'add', layer: 'x', side: 'a' };
      expect((await setup(dialogid, add)).status).to.equal(200);
      const other = await setup(dialogid, { ...add, layer: 'y' });
      expect(other.status, other.text).to.equal(422);
      const replaced = await setup(dialogid, add);
      expect(replaced.status, replaced.text).to.equal(200);
      await eventually(async () => expect(vosk.connections).to.equal(1));

      await configure({ ...only, servers: [{ engine: 'vosk', url: 'ws://127.0.0.1:1' }] });
      for (const side of ['a', 'b']) {
        const refused = await setup(dialogid, { ...add, side });
        expect(refused.status, refused.text).to.equal(422);
      }
      vosk.words = ['still here'];
      outgoing.play(500);
      await incoming.hears(500);
      await pause(400);
      outgoing.play(undefined);
      await eventually(async () => {
        const finals = heard.received.filter(({ data }) => data['final'] === true);
        expect(finals.map(({ data }) => data['text'])).to.deep.equal(['still here']);
      }, 4000);
      heard.stop();
      expect((await setup(dialogid, { command: 'remove', layer: 'x' })).json()).to.include({ text: 'still here' });
      await outgoing.hangup();
      await eventually(async () => expect(vosk.connections).to.equal(0));
    });

    it('a layer removed without its text frees its stream at once', async () => {
      await configure({ servers: [{ engine: 'vosk', url: vosk.url }], parallel_streams: 1 });
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing } = await stage.connect(alice, bob, '102');
      const { dialogid } = await stage.dialog();
      vosk.thinking = true;
      try {
        for (const layer of ['x', 'y', 'z']) {
          const added = await setup(dialogid, { command: 'add', layer, side: 'a' });
          expect(added.status, `${layer}: ${added.text}`).to.equal(200);
          const removed = await setup(dialogid, { command: 'remove', layer, result_text: false });
          expect(removed.status, removed.text).to.equal(200);
        }
        await eventually(async () => expect(vosk.connections, 'streams beyond the limit').to.be.at.most(1));
      } finally {
        vosk.thinking = false;
      }
      await outgoing.hangup();
      await eventually(async () => expect(vosk.connections).to.equal(0), 4000);
    });

    it('a layer removed without its text still reports its last words by an event', async () => {
      await useVosk();
      vosk.words = ['goodbye'];
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      const { dialogid } = await stage.dialog();
      const heard = await events(['asrevents']);
      expect((await setup(dialogid, { command: 'add', layer: 'x', side: 'a' })).status).to.equal(200);
      outgoing.play(500);
      await incoming.hears(500);
      await eventually(async () => expect(heard.received.map(({ data }) => data['text'])).to.include('goodbye'));
      const removed = await setup(dialogid, { command: 'remove', layer: 'x', result_text: false });
      expect(removed.json()).to.not.have.property('text');
      await eventually(async () => {
        const finals = heard.received.filter(({ data }) => data['final'] === true);
        expect(finals.map(({ data }) => data['text'])).to.deep.equal(['goodbye']);
      });
      heard.stop();
      await outgoing.hangup();
    });

    it('follows the leg through a transfer, and ends with it', async () => {
      await useVosk();
      vosk.words = ['before', 'after'];
      const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
      const { outgoing } = await stage.connect(alice, bob, '102');
      const { dialogid } = await stage.dialog();
      const heard = await events(['asrevents']);
      expect((await setup(dialogid, { command: 'add', layer: 'x', callid: outgoing.callId })).status).to.equal(200);
      const by = '<sip:102@demo.local>';
      const transferred = rest.send('REFER', `${CALLS}/${dialogid}`, {
        body: { by, referto: '103', response_mode: 4 },
      });
      const third = await carol.incoming();
      await third.answer();
      expect((await transferred).json()).to.include({ result: 'ok' });
      const now = (await stage.dialog()).dialogid;
      expect(now).to.not.equal(dialogid);
      outgoing.play(500);
      await third.hears(500);
      await pause(300);
      outgoing.play(undefined);
      await eventually(async () => {
        const finals = heard.received.filter(({ data }) => data['final'] === true);
        expect(finals.map(({ data }) => [data['text'], data['dialogid']])).to.deep.equal([['before', now]]);
      }, 4000);
      heard.stop();
      await third.hangup();
      await eventually(async () => expect(vosk.connections, 'still listening').to.equal(0));
    });

    it('does not affect the sound of the call', async () => {
      await useVosk();
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      const { dialogid } = await stage.dialog();
      for (const side of ['a', 'b'])
        expect((await setup(dialogid, { command: 'add', layer: side, side })).status).to.equal(200);
      outgoing.play(500);
      incoming.play(900);
      await Promise.all([outgoing.hears(900), incoming.hears(500)]);
      await outgoing.hearsNot(500, { forMs: 400 });
      await incoming.hearsNot(900, { forMs: 400 });
      await outgoing.hangup();
      await eventually(async () => expect(vosk.connections).to.equal(0));
    });

    it('is refused for invalid dialogs and parameters', async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing } = await stage.connect(alice, bob, '102');
      const { dialogid } = await stage.dialog();
      const refusals = [
        [{ command: 'add', layer: 'x', side: 'a' }, 422, 'record_asr_options'],
        [{ command: 'remove', layer: 'none' }, 422, 'layer'],
        [{ command: 'add', side: 'a' }, 400, 'layer'],
        [{ command: 'start', layer: 'x' }, 400, 'command'],
        [{ command: 'add', layer: 'x' }, 400, 'callid'],
        [{ command: 'add', layer: 'x', side: 'c' }, 422, 'side'],
      ] as const;
      await configure({ enabled: false });
      for (const [body, status, field] of refusals) {
        const answer = await setup(dialogid, body);
        expect(answer.status, `${JSON.stringify(body)}: ${answer.text}`).to.equal(status);
        expect(answer.json<{ error_details: { field: string } }>().error_details.field).to.equal(field);
      }
      await configure({ servers: [{ engine: 'vosk', url: 'ws://127.0.0.1:1' }] });
      const unreachable = await setup(dialogid, { command: 'add', layer: 'x', side: 'a' });
      expect(unreachable.status).to.equal(422);
      expect(unreachable.text).to.contain('cannot be reached');
      const wrong = await master.send('POST', SETTINGS, { body: { key: 'record_asr_options', value: { servers: 1 } } });
      expect(wrong.status).to.equal(400);
      const unknown = { servers: [{ engine: 'vosk', url: 'ws://127.0.0.1:1', port: 1 }] };
      const misspelt = await master.send('POST', SETTINGS, { body: { key: 'record_asr_options', value: unknown } });
      expect(misspelt.text).to.contain('servers[0].port is not known');
      await outgoing.hangup();
    });
  });

  describe('of a recording', () => {
    it('is transcribed by TRANSCRIBE, channel by channel, and reported at the end', async () => {
      // The next server takes over when the first one fails.
      const away = { engine: 'openai', url: 'http://127.0.0.1:1/v1' };
      await configure({ servers: [away, { engine: 'openai', url: openai.url }] });
      openai.texts = ['good morning', 'who is there'];
      await rest.send('POST', RULES, { body: {} });
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      const { inviteid } = await stage.dialog();
      outgoing.play(500);
      incoming.play(900);
      await Promise.all([outgoing.hears(900), incoming.hears(500)]);
      await pause(400);
      await outgoing.hangup();
      const [recording] = await eventually(async () => {
        const list = (await rest.get(RECORDINGS)).json<{ id: string; status: string; reclink: string }[]>();
        expect(list.map(({ status }) => status)).to.deep.equal(['saved']);
        return list;
      }, 4000);
      const heard = await events(['ccsevents.connection_set_asr']);
      const reclink = recording?.reclink ?? '';
      const answer = await rest.send('TRANSCRIBE', CALLS, { body: { idconn: inviteid, reclink } });
      expect(answer.json(), answer.text).to.deep.equal({ result: 'ok' });
      await eventually(async () => expect(heard.received).to.have.length(1), 5000);
      expect(heard.received[0]?.data).to.include({
        connectionid: inviteid,
        recordid: recording?.id,
        reclink,
        result: 'ok',
        text: '101: good morning\n102: who is there',
      });
      heard.stop();
      const read = (await rest.get(`${RECORDINGS}/${recording?.id}`)).json<Record<string, unknown>>();
      expect(read['asr_status']).to.equal('done');
      expect(read['transcript']).to.deep.include({ text: '101: good morning\n102: who is there' });
      for (const body of [
        { idconn: 'other', reclink },
        { idconn: inviteid, reclink: 'fs://main/nothing.wav' },
      ]) {
        for (const dry_run of [true, false]) {
          const unknown = await rest.send('TRANSCRIBE', CALLS, { body, query: { dry_run } });
          expect(unknown.status).to.equal(404);
          expect(unknown.json()).to.include({ error_code: 1404, error_message: 'Recording not found' });
        }
      }
      expect((await rest.send('TRANSCRIBE', CALLS, { body: { idconn: inviteid } })).status).to.equal(400);
      await configure({ enabled: false });
      expect((await rest.send('TRANSCRIBE', CALLS, { body: { idconn: inviteid, reclink } })).status).to.equal(422);
    });

    it('is transcribed automatically by a rule', async () => {
      await configure({ servers: [{ engine: 'openai', url: openai.url }] });
      openai.texts = ['by itself'];
      await rest.send('POST', RULES, { body: { opts: { transcribe: true } } });
      const [alice, bob] = await stage.phones('alice', 'bob');
      const { outgoing, incoming } = await stage.connect(alice, bob, '102');
      outgoing.play(500);
      await incoming.hears(500);
      await pause(300);
      await outgoing.hangup();
      await eventually(async () => {
        const [recording] = (await rest.get(RECORDINGS)).json<{ transcript: { text?: string } }[]>();
        expect(recording?.transcript.text).to.equal('101: by itself');
      }, 5000);
    });
  });

  describe('of the caller of a scenario', () => {
    async function scenario(id: string, blocks: string): Promise<void> {
      const folder = join(stage.node.dataDir, 'scenarios');
      await mkdir(folder, { recursive: true });
      await writeFile(
        join(folder, `${id}.yaml`),
        `id: ${id}
start: pick_up
blocks:
  pick_up:
    answer:
    next: ask
${blocks}`,
      );
    }

    const toneBlock = (name: string, hertz: number): string => `  ${name}:
    play: "tone:%(1500,0,${hertz})"
    next: end
`;

    it('is recognised by pocketsphinx, and interrupts the prompt', async function () {
      if (!speechPeers()) this.skip();
      const hints = WORDS.map((word) => `"${word}"`).join(', ');
      await scenario(
        'voice',
        `  ask:
    recognise: { prompt: "tone:%(20000,0,400)", hints: [${hints}], silence: 600ms }
    exits: { heard: which, silence: quiet }
  which:
    switch: \${ask.text}
    exits: { tomorrow: later, else: other }
${toneBlock('later', 700)}${toneBlock('other', 1000)}${toneBlock('quiet', 1300)}`,
      );
      const [alice] = await stage.phones('alice');
      const call = await alice.call('*55voice');
      await call.hears(400);
      void call.say(spoken('tomorrow'));
      await call.hears(700, { withinMs: 8000 });
      await call.ended(6000);
    });

    it('leaves by the exits silence and failed', async () => {
      await useVosk();
      vosk.words = [''];
      await scenario(
        'mute',
        `  ask:
    recognise: { timeout: 400ms, silence: 300ms }
    exits: { heard: end, silence: quiet, failed: end }
  quiet:
    recognise: { prompt: "tone:%(300,0,1300)", timeout: 5s, silence: 300ms }
    exits: { heard: end, silence: end, failed: what }
${toneBlock('what', 1000)}`,
      );
      const [alice] = await stage.phones('alice');
      const call = await alice.call('*55mute');
      await call.hears(1300, { withinMs: 5000 });
      await pause(400);
      call.play(500);
      await pause(400);
      call.play(undefined);
      await call.hears(1000, { withinMs: 6000 });
      await call.ended(6000);
    });

    it('is transcribed after the call', async () => {
      await configure({ servers: [{ engine: 'openai', url: openai.url }] });
      openai.texts = ['call me back'];
      await scenario(
        'notes',
        `  ask:
    record: { max: 10s, beep: false }
    next: write
  write:
    transcribe: \${ask.recording}
    next: which
  which:
    if: write.text == 'call me back'
    exits: { then: good, else: bad }
${toneBlock('good', 700)}${toneBlock('bad', 1000)}`,
      );
      const [alice] = await stage.phones('alice');
      const call = await alice.call('*55notes');
      await call.answered();
      call.play(500);
      await pause(600);
      call.play(undefined);
      await call.sendDtmf('#');
      await call.hears(700, { withinMs: 6000 });
      await call.ended(6000);
    });
  });
});

describe('speech with an engine that is installed while the node runs', () => {
  const bin = temporaryFolder();
  const stage = useStage({
    env: async () => {
      // Programs needed to start the engine; the rest of PATH would contain the engine, too.
      await symlink(commandPath('cat'), join(bin, 'cat'));
      return { PATH: bin };
    },
  });

  it('is found at the next request', async function () {
    this.timeout(60_000);
    if (!speechPeers()) this.skip();
    const rest = await stage.rest();
    const [alice, bob] = await stage.phones('alice', 'bob');
    const { outgoing } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    const setup = (body: object) => rest.send('SETUP_ASR', `${CALLS}/${dialogid}`, { body });
    const add = { command: 'add', layer: 'x', side: 'a' };
    const early = await setup(add);
    expect(early.status, early.text).to.equal(422);
    expect(early.text).to.contain('install pocketsphinx');
    await symlink(commandPath('pocketsphinx_continuous'), join(bin, 'pocketsphinx_continuous'));
    const added = await setup(add);
    expect(added.status, added.text).to.equal(200);
    const heard = await eventsOf(stage, rest, ['asrevents']);
    await outgoing.say(spoken('tomorrow'));
    await eventually(async () => expect(heard.received.map(({ type }) => type)).to.include('result'), 40_000);
    heard.stop();
    await outgoing.hangup();
  });
});

function commandPath(command: string): string {
  return execFileSync('sh', ['-c', `command -v ${command}`], { encoding: 'utf8' }).trim();
}

/** Events of some classes, in order. */
async function eventsOf(
  stage: Stage,
  rest: RestClient,
  names: readonly string[],
): Promise<{ readonly received: SpeechEvent[]; stop(): void }> {
  const stopping = new AbortController();
  const response = await fetch(`${stage.node.base}/rest/v1/api/events?events=${names.join(',')}`, {
    headers: rest.authorization,
    signal: stopping.signal,
  });
  expect(response.status).to.equal(200);
  const received: SpeechEvent[] = [];
  const read = async (): Promise<void> => {
    let left = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      left += chunk;
      const blocks = left.split('\n\n');
      left = blocks.pop() ?? '';
      for (const block of blocks) {
        const text = /^data: (.*)$/m.exec(block)?.[1];
        const event = text === undefined ? undefined : (JSON.parse(text) as Partial<SpeechEvent>);
        if (event?.type !== undefined && event.data !== undefined)
          received.push({ type: event.type, data: event.data });
      }
    }
  };
  read().catch(() => undefined);
  return { received, stop: () => stopping.abort() };
}
