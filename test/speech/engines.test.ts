import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { wavOf } from '../../runtime/media/wav-file.ts';
import { Nursery } from '../../runtime/processes/index.ts';
import { SpeechError, type SpeechResult } from '../../runtime/speech/engine.ts';
import { SpeechService, transcribeFile } from '../../runtime/speech/index.ts';
import { amplitudeAt, ToneSource } from '../phones/media/tone.ts';
import { OpenAiServer } from './support/openai-server.ts';
import { speechPeers, spoken, WORDS } from './support/spoken.ts';
import { VoskServer } from './support/vosk-server.ts';
import { disposableFolder } from '../support/temporary-folder.ts';

const nursery = new Nursery();

/** Loud for a while, then silent: what a stand-in takes for a word. */
function word(loudMs = 400, quietMs = 800): Int16Array {
  const samples = new Int16Array((loudMs + quietMs) * 8);
  samples.set(new ToneSource(400).next(loudMs * 8));
  return samples;
}

/** A service with one server, or what is installed. */
function serviceWith(server?: object, more: object = {}): SpeechService {
  const service = new SpeechService(nursery, () => true);
  expect(service.configure(server === undefined ? undefined : { servers: [server], ...more })).to.equal(undefined);
  return service;
}

async function results(service: SpeechService, sound: readonly Int16Array[], hints: readonly string[] = []) {
  const told: SpeechResult[] = [];
  let failure: SpeechError | undefined;
  const stream = await service.open({
    hints,
    onResult: (result) => told.push(result),
    onFailure: (error) => {
      failure = error;
    },
  });
  for (const samples of sound) {
    for (let at = 0; at < samples.length; at += 160) stream.write(samples.slice(at, at + 160));
    await stream.drained();
  }
  await stream.finish();
  expect(service.streams, 'streams given back').to.equal(0);
  if (failure !== undefined) throw failure;
  return told;
}

async function refusal(work: Promise<unknown>): Promise<SpeechError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(SpeechError);
  return error as SpeechError;
}

describe('speech engines', () => {
  after(() => nursery.close());

  describe('vosk', () => {
    let server: VoskServer;
    before(async () => {
      server = await VoskServer.start();
    });
    after(() => server.close());

    it('receives rate and hints, and returns partial and final results', async () => {
      server.words = ['good', 'morning'];
      const service = serviceWith({ engine: 'vosk', url: server.url, api_key: 'k1' });
      const told = await results(service, [word(), word()], ['good', 'morning']);
      expect(told.filter(({ final }) => final).map(({ text }) => text)).to.deep.equal(['good', 'morning']);
      expect(told.some(({ final }) => !final)).to.equal(true);
      expect(server.configs.at(-1)).to.deep.equal({ sample_rate: 8000, phrase_list: ['good', 'morning', '[unk]'] });
      expect(server.headers.at(-1)?.['authorization']).to.equal('Bearer k1');
      expect(server.bytes).to.equal(2 * word().length * 2);
    });

    it('fails when the server disconnects or is unreachable', async () => {
      server.broken = true;
      const service = serviceWith({ engine: 'vosk', url: server.url });
      const failure = await refusal(results(service, [word()]));
      expect(failure.code).to.equal('failed');
      expect(failure.message).to.match(/closed the connection/);
      const nobody = serviceWith({ engine: 'vosk', url: 'ws://127.0.0.1:1' });
      expect((await refusal(nobody.open({ onResult: () => {}, onFailure: () => {} }))).message).to.match(
        /cannot be reached/,
      );
      expect(nobody.streams).to.equal(0);
      server.broken = false;
    });
  });

  describe('openai', () => {
    let server: OpenAiServer;
    before(async () => {
      server = await OpenAiServer.start();
    });
    after(() => server.close());

    it('gets each utterance as a file, with key, model, language and hints', async () => {
      server.texts = ['first', 'second'];
      const service = serviceWith({
        engine: 'openai',
        url: server.url,
        api_key: 'sk-1',
        model: 'small',
        language: 'de-DE',
      });
      const told = await results(service, [word(), word()], ['eins', 'zwei']);
      expect(told).to.deep.equal([
        { text: 'first', final: true },
        { text: 'second', final: true },
      ]);
      const [one] = server.requests;
      expect(one?.authorization).to.equal('Bearer sk-1');
      expect(one?.fields).to.deep.equal({
        model: 'small',
        response_format: 'json',
        language: 'de',
        prompt: 'eins, zwei',
      });
      expect(one?.wav.toString('latin1', 0, 4)).to.equal('RIFF');
      expect(one?.wav.readUInt32LE(24)).to.equal(8000);
    });

    it('receives no silence', async () => {
      const before = server.requests.length;
      const service = serviceWith({ engine: 'openai', url: server.url });
      expect(await results(service, [new Int16Array(16_000)])).to.deep.equal([]);
      expect(server.requests.length).to.equal(before);
    });

    it('gets a file as a whole', async () => {
      await using folder = await disposableFolder();
      const file = join(folder.path, 'two.wav');
      writeFileSync(file, wavOf(Int16Array.from([...word(), ...word()]), 8000));
      server.texts = ['all of it'];
      const before = server.requests.length;
      const service = serviceWith({ engine: 'openai', url: server.url });
      const text = await transcribeFile(service, file, { signal: new AbortController().signal });
      expect(text).to.deep.equal([{ channel: 0, text: 'all of it' }]);
      expect(server.requests.length - before).to.equal(1);
    });

    it('gets a wideband file at its own rate, without aliases of what that cannot carry', async () => {
      await using folder = await disposableFolder();
      const file = join(folder.path, 'wide.wav');
      const tones = [new ToneSource(400, 8000, 16_000), new ToneSource(6000, 8000, 16_000)];
      const [low, high] = tones.map((tone) => tone.next(16_000)) as [Int16Array, Int16Array];
      writeFileSync(
        file,
        wavOf(
          low.map((sample, at) => sample + (high[at] as number)),
          16_000,
        ),
      );
      server.texts = ['wide'];
      const service = serviceWith({ engine: 'openai', url: server.url });
      await transcribeFile(service, file, { signal: new AbortController().signal });
      const wav = server.requests.at(-1)?.wav as Buffer;
      expect(wav.readUInt32LE(24)).to.equal(8000);
      const heard = Int16Array.from({ length: 4000 }, (_, at) => wav.readInt16LE(44 + 2 * (2000 + at)));
      expect(amplitudeAt(heard, 400)).to.be.within(7500, 8500);
      expect(amplitudeAt(heard, 2000)).to.be.below(20);
    });

    it("fails with the server's error message", async () => {
      server.status = 429;
      const failure = await refusal(results(serviceWith({ engine: 'openai', url: server.url }), [word()]));
      expect(failure.message).to.match(/429 .*overloaded/);
      server.status = 200;
    });

    it('fails after an endless answer', async () => {
      server.texts = ['x'.repeat(2_000_000)];
      const failure = await refusal(results(serviceWith({ engine: 'openai', url: server.url }), [word()]));
      expect(failure.message).to.match(/its answer has more than 1048576 octets/);
    });
  });

  describe('pocketsphinx', () => {
    before(function () {
      if (!speechPeers()) this.skip();
    });

    it('recognises spoken words from the hints', async () => {
      const told = await results(serviceWith(), [spoken('tomorrow'), spoken('yes')], WORDS);
      expect(told.map(({ text }) => text)).to.deep.equal(['tomorrow', 'yes']);
    });

    it('omits hints that are not in its dictionary', async () => {
      const told = await results(serviceWith(), [spoken('tomorrow')], ['xqzzk now', ...WORDS]);
      expect(told.map(({ text }) => text)).to.deep.equal(['tomorrow']);
    });

    it('fails when it cannot start', async () => {
      const service = serviceWith({ engine: 'pocketsphinx', acoustic_model: '/nowhere' });
      expect((await refusal(results(service, [word()]))).message).to.match(/pocketsphinx_continuous ended with code 1/);
    });
  });

  describe('of the configuration', () => {
    it('are off without a configured or installed engine', async () => {
      const none = new SpeechService(nursery, () => false);
      expect(none.configured).to.equal(false);
      const failure = await refusal(none.open({ onResult: () => {}, onFailure: () => {} }));
      expect(failure.code).to.equal('not_configured');
      expect(new SpeechService(nursery, () => true).configured).to.equal(true);
      const off = new SpeechService(nursery, () => true);
      off.configure({ enabled: false });
      expect(off.configured).to.equal(false);
      expect(off.configure({ servers: 'none' })).to.match(/servers/);
      expect(off.configured).to.equal(false);
    });

    it('are on once pocketsphinx is installed', async () => {
      let installed = false;
      const service = new SpeechService(nursery, () => installed);
      expect([service.configured, service.capacity, service.free]).to.deep.equal([false, 0, 0]);
      const changed = new Promise((resolve) => service.onChange(() => resolve(undefined)));
      installed = true;
      expect([service.configured, service.capacity, service.free]).to.deep.equal([true, 4, 4]);
      await changed;
    });

    it('limit their streams, and fall back to the next server', async () => {
      const server = await VoskServer.start();
      const service = new SpeechService(nursery, () => true);
      const servers = [
        { engine: 'vosk', url: 'ws://127.0.0.1:1' },
        { engine: 'vosk', url: server.url },
      ];
      service.configure({ servers, parallel_streams: 1 });
      const quiet = { onResult: () => {}, onFailure: () => {} };
      const stream = await service.open(quiet);
      expect([service.free, service.streams]).to.deep.equal([0, 1]);
      expect((await refusal(service.open(quiet))).code).to.equal('busy');
      const freed = new Promise((resolve) => service.onChange(() => resolve(undefined)));
      stream.close();
      await freed;
      expect(service.free).to.equal(1);
      await server.close();
    });

    it('are validated', () => {
      const wrong = (value: unknown): string => serviceWith().configure(value) ?? '';
      expect(wrong({ servers: [{ engine: 'vosk' }] })).to.match(/servers\[0\]/);
      expect(wrong({ servers: [{ engine: 'vosk', url: 'http://x' }] })).to.match(/servers\[0\]\.url/);
      expect(wrong({ servers: [{ engine: 'siri' }] })).to.match(/pocketsphinx, vosk, openai/);
      expect(wrong({ parallel_streams: 0 })).to.match(/parallel_streams/);
      expect(wrong({ activity_time: { from: '25:00', to: '08:00' } })).to.match(/activity_time\.from/);
      expect(wrong({ activity_time: { from: '22:00', to: '08:00', timezone: 'Nowhere/No' } })).to.match(/timezone/);
    });
  });
});
