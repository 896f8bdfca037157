import type { DomainName } from '../../domain-name/index.ts';
import { ScenarioError } from '../../language/index.ts';
import type { CallRecordingPort, RecordingChange, RecordLayer } from '../../runs/index.ts';

/** Recording of simulated calls: every call is recorded, and changes of recordings are only noted. */
export class SimulatedRecording implements CallRecordingPort {
  readonly #note: (what: string) => void;
  readonly #paused = new Set<string>();
  readonly #layers = new Set<string>();

  constructor(note: (what: string) => void) {
    this.#note = note;
  }

  async pause(domain: DomainName, dialogid: string): Promise<void> {
    this.check(domain, dialogid, { command: 'pause' });
    this.#paused.add(dialogid);
    this.#note(`pause recording of ${dialogid}`);
  }

  async resume(domain: DomainName, dialogid: string): Promise<void> {
    this.check(domain, dialogid, { command: 'resume' });
    this.#paused.delete(dialogid);
    this.#note(`resume recording of ${dialogid}`);
  }

  async addLayer({ dialogid, callid, layer }: RecordLayer): Promise<void> {
    this.#layers.add(`${dialogid} ${layer}`);
    this.#note(`record layer ${layer} of ${callid ?? 'both sides'}`);
  }

  async removeLayer(domain: DomainName, dialogid: string, layer: string): Promise<void> {
    this.check(domain, dialogid, { command: 'remove', layer });
    this.#layers.delete(`${dialogid} ${layer}`);
    this.#note(`end layer ${layer}`);
  }

  check(_domain: string, dialogid: string, change: RecordingChange): void {
    const { command } = change;
    const paused = this.#paused.has(dialogid);
    if (command === 'pause' && paused) throw refused('command', 'the recording is paused already');
    if (command === 'resume' && !paused) throw refused('command', 'the recording is not paused');
    if (command === 'remove' && !this.#layers.has(`${dialogid} ${change.layer}`))
      throw refused('layer', 'does not exist in this call');
  }
}

function refused(field: string, reason: string): ScenarioError {
  return new ScenarioError('not_applicable', `${field}: ${reason}`, { details: { field, reason } });
}
