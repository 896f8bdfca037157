import { ScenarioError } from '../errors.ts';
import type { CallRecordingPort, RecordLayer } from '../ports/call-recording.ts';

/** Recording of simulated calls: every call is recorded, and what is done to a recording is noted. */
export class SimulatedRecording implements CallRecordingPort {
  readonly #note: (what: string) => void;
  readonly #paused = new Set<string>();
  readonly #layers = new Set<string>();

  constructor(note: (what: string) => void) {
    this.#note = note;
  }

  async pause(_domain: string, dialogid: string): Promise<void> {
    if (this.#paused.has(dialogid)) throw refused('command', 'the recording is paused already');
    this.#paused.add(dialogid);
    this.#note(`pause recording of ${dialogid}`);
  }

  async resume(_domain: string, dialogid: string): Promise<void> {
    if (!this.#paused.delete(dialogid)) throw refused('command', 'the recording is not paused');
    this.#note(`resume recording of ${dialogid}`);
  }

  async addLayer({ dialogid, callid, layer }: RecordLayer): Promise<void> {
    this.#layers.add(`${dialogid} ${layer}`);
    this.#note(`record layer ${layer} of ${callid}`);
  }

  async removeLayer(_domain: string, dialogid: string, layer: string): Promise<void> {
    if (!this.#layers.delete(`${dialogid} ${layer}`)) throw refused('layer', 'is not there');
    this.#note(`end layer ${layer}`);
  }
}

function refused(field: string, reason: string): ScenarioError {
  return new ScenarioError('not_applicable', `${field}: ${reason}`, { details: { field, reason } });
}
