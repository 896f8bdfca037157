/** The far half of a loop whose call another node has: to that node it is a phone that calls. */
import { MediaError, type MediaEndpoint } from '../../media/index.ts';
import type { DialogTags, RequestSource, SipDialogHandlers } from '../../signalling/index.ts';
import type { DialogLine, InviteLine } from '../lines/line.ts';

/** What the line needs of its loop. */
export interface LineLoop {
  /** Aborted when the call is over. */
  readonly over: AbortSignal;
  ringing(): void;
  /** The other node ends the call. */
  end(reason: string): void;
}

const NO_TAGS: DialogTags = { local: '', remote: '' };

export class LoopLine implements InviteLine {
  readonly callId: string;
  readonly via = undefined;
  readonly tags = undefined;
  readonly #loop: LineLoop;
  readonly #endpoint: MediaEndpoint;

  /** @param endpoint of the near half, which offers its sound */
  constructor(callId: string, loop: LineLoop, endpoint: MediaEndpoint) {
    this.callId = callId;
    this.#loop = loop;
    this.#endpoint = endpoint;
  }

  get sdp(): string {
    return this.#endpoint.localSdp;
  }

  /** The media server of the near half: the far half's media server must be reached from there. */
  get source(): RequestSource {
    const [, address = ''] = /^c=IN IP[46] (\S+)/m.exec(this.sdp) ?? [];
    return { protocol: 'udp', address, port: 0 };
  }

  get cancelled(): AbortSignal {
    return this.#loop.over;
  }

  header(): undefined {
    return undefined;
  }

  progress(): void {
    this.#loop.ringing();
  }

  reject(_status: number, reason = 'Rejected'): void {
    this.#loop.end(reason);
  }

  async accept(sdp: string): Promise<DialogLine> {
    if (this.#loop.over.aborted) throw new MediaError('the caller is gone', 487);
    await this.#endpoint.modify(sdp);
    return new LoopDialog(this.callId, this.#loop, this.#endpoint);
  }
}

class LoopDialog implements DialogLine {
  readonly callId: string;
  readonly tags = NO_TAGS;
  readonly place = undefined;
  readonly #loop: LineLoop;
  readonly #endpoint: MediaEndpoint;

  constructor(callId: string, loop: LineLoop, endpoint: MediaEndpoint) {
    this.callId = callId;
    this.#loop = loop;
    this.#endpoint = endpoint;
  }

  handle(handlers: SipDialogHandlers): void {
    const { over } = this.#loop;
    if (over.aborted) return handlers.ended('BYE', false);
    over.addEventListener('abort', () => handlers.ended('BYE', false), { once: true });
  }

  bye(): Promise<void> {
    this.#loop.end('BYE');
    return Promise.resolve();
  }

  reinvite(sdp: string): Promise<string> {
    return this.#endpoint.modify(sdp);
  }

  /** A scenario takes no requests over a loop. */
  request(): Promise<number> {
    return Promise.resolve(481);
  }

  notify(): Promise<void> {
    return Promise.resolve();
  }

  async sendDtmf(digit: string): Promise<void> {
    await this.#endpoint.receiveDtmf(digit);
  }
}
