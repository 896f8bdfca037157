import type { DomainName } from '../../domain-name/index.ts';
import { ScenarioError } from '../../language/index.ts';
import type {
  CallSpeechPort,
  SpeechChange,
  SpeechLayer,
  TranscriptChannel,
  TranscriptPort,
  TranscriptSource,
} from '../../runs/index.ts';

/**
 * Speech recognition in simulations. For calls, which have no speech, requests are only noted. For recordings, the words said
 * into them are known.
 */
export class SimulatedSpeech implements CallSpeechPort, TranscriptPort {
  readonly #note: (what: string) => void;
  readonly #words: (file: string) => string;
  readonly #layers = new Set<string>();

  /** @param words all words said into a recording */
  constructor(note: (what: string) => void, words: (file: string) => string) {
    this.#note = note;
    this.#words = words;
  }

  async addLayer({ dialogid, callid, layer }: SpeechLayer): Promise<void> {
    this.#layers.add(`${dialogid} ${layer}`);
    this.#note(`recognise ${callid} as ${layer}`);
  }

  async removeLayer(domain: DomainName, dialogid: string, layer: string): Promise<string> {
    this.check(domain, dialogid, { command: 'remove', layer });
    this.#layers.delete(`${dialogid} ${layer}`);
    this.#note(`end recognition ${layer}`);
    return '';
  }

  check(_domain: string, dialogid: string, change: SpeechChange): void {
    if (change.command === 'add' || this.#layers.has(`${dialogid} ${change.layer}`)) return;
    const details = { field: 'layer', reason: 'does not exist in this call' };
    throw new ScenarioError('not_applicable', 'layer: does not exist in this call', { details });
  }

  async request(_domain: string, _idconn: string, reclink: string): Promise<void> {
    this.#note(`queue transcription of ${reclink}`);
  }

  /** Every recording exists. */
  async checkRequest(): Promise<void> {
    await Promise.resolve();
  }

  async transcribe(source: TranscriptSource): Promise<readonly TranscriptChannel[]> {
    const what = 'file' in source ? source.file.split('/').at(-1) : source.reclink;
    this.#note(`transcribe ${what}`);
    return [{ channel: 0, text: 'file' in source ? this.#words(source.file) : '' }];
  }
}
