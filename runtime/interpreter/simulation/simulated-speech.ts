import { ScenarioError } from '../errors.ts';
import type { CallSpeechPort, SpeechChange, SpeechLayer } from '../ports/call-speech.ts';
import type { TranscriptChannel, TranscriptPort, TranscriptSource } from '../ports/transcripts.ts';

/** Speech recognition of simulated calls: nothing is said in them, and what is asked for is noted. */
export class SimulatedSpeech implements CallSpeechPort, TranscriptPort {
  readonly #note: (what: string) => void;
  readonly #layers = new Set<string>();

  constructor(note: (what: string) => void) {
    this.#note = note;
  }

  async addLayer({ dialogid, callid, layer }: SpeechLayer): Promise<void> {
    this.#layers.add(`${dialogid} ${layer}`);
    this.#note(`recognise ${callid} as ${layer}`);
  }

  async removeLayer(domain: string, dialogid: string, layer: string): Promise<string> {
    this.check(domain, dialogid, { command: 'remove', layer });
    this.#layers.delete(`${dialogid} ${layer}`);
    this.#note(`end recognition ${layer}`);
    return '';
  }

  check(_domain: string, dialogid: string, change: SpeechChange): void {
    if (change.command === 'add' || this.#layers.has(`${dialogid} ${change.layer}`)) return;
    const details = { field: 'layer', reason: 'is not there' };
    throw new ScenarioError('not_applicable', 'layer: is not there', { details });
  }

  async request(_domain: string, _idconn: string, reclink: string): Promise<void> {
    this.#note(`queue transcription of ${reclink}`);
  }

  /** Every recording is there. */
  async checkRequest(): Promise<void> {
    await Promise.resolve();
  }

  async transcribe(source: TranscriptSource): Promise<readonly TranscriptChannel[]> {
    const what = 'file' in source ? source.file.split('/').at(-1) : source.reclink;
    this.#note(`transcribe ${what}`);
    return [{ channel: 0, text: '' }];
  }
}
