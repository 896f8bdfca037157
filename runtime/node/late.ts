/**
 * Late-bound parts, which earlier parts call once the node runs. All circular calls between the parts of a node go through
 * these.
 */
import type { MediaServers } from '../media/index.ts';
import type { TranscriptQueue } from '../recording/index.ts';
import type { Switch } from '../switch/index.ts';
import type { Operations } from '../operations/index.ts';
import type { ConfirmToken } from '../iam/index.ts';
import type { ScenarioRunner } from '../runs/index.ts';

/** A part that is bound after its opening. */
export class Late<Part> {
  readonly #what: string;
  #part: Part | undefined;

  /** @param what names the part in the error */
  constructor(what: string) {
    this.#what = what;
  }

  bind(part: Part): void {
    this.#part = part;
  }

  /** @throws Error before it is bound */
  get part(): Part {
    if (this.#part === undefined) throw new Error(`${this.#what} was used before it was open`);
    return this.#part;
  }
}

/** The late-bound parts, with reasons. */
export class LateParts {
  /** Scenarios, recordings and rooms call the switch, which calls them. */
  readonly switch = new Late<Switch>('the switch');
  /** Media servers mix rooms, and are connected after the switch is open. */
  readonly media = new Late<MediaServers>('the media servers');
  /** A saved recording asks for a transcript, which is stored with it. */
  readonly transcriptions = new Late<TranscriptQueue>('the queue of transcriptions');
  /** Scenarios start operations, which are scenarios. */
  readonly operations = new Late<Pick<Operations, 'start'>>('the operations');
  /** Calls are served by scenarios, which place calls. */
  readonly runner = new Late<ScenarioRunner>('the runner of scenarios');
  /** A scenario can confirm a login; scenarios need the accounts. */
  readonly confirmToken = new Late<ConfirmToken>('the scenario that confirms logins');
}
