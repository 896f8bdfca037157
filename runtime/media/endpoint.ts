/** The media endpoint of one SIP leg. */
import type { FsEndpoint, FsEvent, FsRequest } from 'drachtio-fsmrf';
import type { CodecName } from './codec-order.ts';
import { Applications, begins } from './applications.ts';
import { hangUp } from './channel-dialog.ts';
import { followExecutions, nextParking } from './channel-events.ts';
import type { ChannelSession, SessionChannel } from './channel-session.ts';
import { DigitQueue } from './digit-queue.ts';
import type { ChannelPlace, EndpointServer, FarEndWish } from './endpoint-server.ts';
import { bothFigures, type MediaFigures } from './media-figures.ts';
import { ENDPOINT_GONE, EndpointGone, MediaError, NoSpeechEngine } from './media-error.ts';
import { type RecordWhat, recordArguments } from './record-arguments.ts';
import { readSpokenSource, speechArguments, speechSettings } from './speech-source.ts';
import type { SrtpPolicy } from './sdp-streams.ts';
import { elapsed, untilAborted } from './until-aborted.ts';
import { isOwnTone, ToneDigits } from './tone-digits.ts';
import { YoungBridge } from './young-bridge.ts';

/**
 * The media of one SIP leg: a channel on the media server. Every operation settles: with its result, with the reason of
 * the given signal, or with EndpointGone when the channel ends first (an application unknown to the media server hangs
 * up the channel without an answer).
 */
export class MediaEndpoint {
  readonly digits = new DigitQueue();
  /** Called with INFO requests of the media server: digits for a far end without telephone-events. */
  onInfo: (contentType: string, body: string) => void = () => undefined;
  readonly #gone = new AbortController();
  readonly #via: string | undefined;
  readonly #srtp: SrtpPolicy | undefined;
  readonly #peer: string | undefined;
  #server: EndpointServer;
  #endpoint: FsEndpoint;
  #session: ChannelSession;
  #destroyed = false;
  #digitsKept = false;
  #figures: Promise<MediaFigures | undefined> = Promise.resolve(undefined);
  #modifying: Promise<unknown> = Promise.resolve();
  /** The current bridge, until the channel has left it. */
  #bridge: { readonly other: MediaEndpoint; readonly young: YoungBridge } | undefined;
  #applications: Applications;
  readonly #tones = new ToneDigits();

  /**
   * @param made.via name of the SIP server that called the media server
   * @param made.srtp encryption of the sound to and from the far end
   * @param made.peer IP address that the far end's SIP comes from
   * @param made.session the initial media session
   */
  constructor(
    endpoint: FsEndpoint,
    server: EndpointServer,
    made: {
      readonly via: string | undefined;
      readonly srtp: SrtpPolicy | undefined;
      readonly peer?: string | undefined;
      readonly session: ChannelSession;
    },
  ) {
    this.#server = server;
    this.#endpoint = endpoint;
    this.#applications = new Applications(endpoint, this.gone);
    this.#via = made.via;
    this.#srtp = made.srtp;
    this.#peer = made.peer;
    this.#session = made.session;
    this.digits.onListener = () => this.#hearTones();
    this.#inhabit(endpoint, server);
  }

  get server(): EndpointServer {
    return this.#server;
  }

  get uuid(): string {
    return this.#endpoint.uuid;
  }

  /** Where other nodes find the channel. */
  get place(): ChannelPlace {
    const { dialog } = this.#endpoint;
    const server = this.#via;
    const { id, sip } = dialog ?? {};
    const known = id !== undefined && sip !== undefined && server !== undefined;
    return { server: this.#server.name, uuid: this.uuid, sip: known ? { server, dialog: id, ...sip } : undefined };
  }

  /** The session description for the phone. */
  get localSdp(): string {
    return this.#session.local;
  }

  /** Codec of the phone; undefined before it is agreed. */
  get codec(): CodecName | undefined {
    return this.#session.codec;
  }

  /** What an endpoint needs that continues the session with the same far end. */
  get wish(): FarEndWish {
    return {
      via: this.#via,
      peer: this.#peer,
      srtp: this.#session.encrypted ? 'required' : this.#srtp,
      keys: this.#session.keys,
      codecs: this.#session.codecs,
    };
  }

  /** Aborted with EndpointGone when the channel has ended for any reason. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** What the media server has counted, once the endpoint is gone; undefined when that is unknown. Never rejects. */
  get figures(): Promise<MediaFigures | undefined> {
    return this.#figures;
  }

  /**
   * Sends the phone's new session description to the media server, one at a time. A refusal keeps the session. After a fax it
   * may continue on another channel, which is not bridged.
   * @returns the media server's answer
   * @throws MediaError with status 488 without a common codec, or without encryption as it has to be
   */
  modify(remoteSdp: string): Promise<string> {
    return this.#nextDescription(() =>
      this.#session.spent ? this.#renew(remoteSdp) : this.#session.modify(remoteSdp, this.gone, this.#channel),
    );
  }

  /** Whether it can pass a fax on between its far end and that of a bridged endpoint. */
  get passesFaxes(): boolean {
    return this.#session.passesFaxes;
  }

  /**
   * Passes a fax on between the phone and that of the bridged endpoint instead of sound, until both have sound again. It may
   * continue on another channel for that.
   * @param remoteSdp the phone's description of the fax
   * @param other the bridged endpoint, and its phone's description
   * @throws MediaError with status 488 when the media server does not
   */
  async passFax(remoteSdp: string, other: { readonly endpoint: MediaEndpoint; readonly sdp: string }): Promise<void> {
    const theirs = other.endpoint;
    if (this.#session.beginsNoFax) {
      if (!theirs.#session.beginsNoFax) return theirs.passFax(other.sdp, { endpoint: this, sdp: remoteSdp });
      await this.#nextDescription(() => this.#renew(this.#session.remote ?? ''));
      await this.bridge(theirs);
    }
    // FreeSWITCH loses an offer that it passes on while a bridge begins.
    if (this.#session.staysFax) await this.#bridge?.young.flows();
    return this.#nextDescription(() =>
      theirs.#nextDescription(() =>
        this.#session.passFax(remoteSdp, this.gone, { session: theirs.#session, sdp: other.sdp }),
      ),
    );
  }

  /**
   * Offers the phone sound again after a fax, and takes its answer; it may continue on another channel, which is not bridged.
   * @param renegotiate offers the phone a description and returns its answer
   * @throws MediaError as `modify`, and errors of `renegotiate`
   */
  async offerSound(renegotiate: (offer: string) => Promise<string>): Promise<void> {
    if (this.#session.spent) await this.moveTo(this.#server, renegotiate);
    else await this.modify(await renegotiate(this.localSdp));
  }

  /** Goes on with the sound of the phone's last description of sound. */
  soundAgain(): Promise<void> {
    return this.#nextDescription(async () => {
      if (this.#session.spent) await this.#renew(this.#session.remote ?? '');
      else await this.#session.soundAgain(this.gone, this.#channel);
    });
  }

  get #channel(): SessionChannel {
    return {
      set: (variable) => this.command('uuid_setvar', variable),
      get: async (name) => (await this.#bounded(this.#endpoint.api('uuid_getvar', `${this.uuid} ${name}`))).getBody(),
      parkAnew: () => this.#parkAnew(),
    };
  }

  #nextDescription<T>(step: () => Promise<T>): Promise<T> {
    const next = this.#modifying.then(step);
    this.#modifying = next.then(
      () => this.#hearTones(),
      () => undefined,
    );
    return next;
  }

  /**
   * Takes the answer of a called far end to this endpoint's offer, and offers it new keys when the media server has changed them.
   * @param renegotiate offers the far end a new session description and returns its answer
   * @throws MediaError as `modify`, and errors of `renegotiate`
   */
  async answered(remoteSdp: string, renegotiate: (offer: string) => Promise<string>): Promise<void> {
    const offer = await this.modify(remoteSdp);
    if (!this.#session.rekeyed) return;
    this.#session.told();
    await this.modify(await renegotiate(offer));
  }

  /**
   * Continues on a channel of another media server, keeping its digits and owners. No application may run. Recordings
   * and taps of the old channel end.
   * @param renegotiate offers the phone the new session description and returns its answer
   * @throws MediaError, and errors of `renegotiate`: nothing has changed then
   */
  moveTo(server: EndpointServer, renegotiate: (offer: string) => Promise<string>): Promise<void> {
    const moved = this.#modifying.then(() => this.#move(server, renegotiate));
    this.#modifying = moved.catch(() => undefined);
    return moved;
  }

  async #move(server: EndpointServer, renegotiate: (offer: string) => Promise<string>): Promise<void> {
    const next = await server.createEndpoint(this.wish);
    await this.#continueOn(next, async () => {
      await next.modify(await renegotiate(next.localSdp));
    });
  }

  /** Continues on a new channel that answers the phone's offer. */
  async #renew(remoteSdp: string): Promise<string> {
    const next = await this.#server.createEndpoint({ ...this.wish, remoteSdp });
    await this.#continueOn(next, async () => undefined);
    return this.localSdp;
  }

  /**
   * Takes the channel of another endpoint in place of its own, which ends.
   * @param agree agrees with the phone on it
   */
  async #continueOn(next: MediaEndpoint, agree: () => Promise<void>): Promise<void> {
    try {
      this.#gone.signal.throwIfAborted();
      await agree();
      this.#gone.signal.throwIfAborted();
      next.#gone.signal.throwIfAborted();
    } catch (error) {
      await next.destroy();
      throw error;
    }
    const { server } = next;
    this.#digitsKept = false;
    this.#bridge = undefined;
    this.#server.left(this);
    server.left(next);
    this.#server = server;
    [this.#endpoint, next.#endpoint] = [next.#endpoint, this.#endpoint];
    [this.#session, next.#session] = [next.#session, this.#session];
    this.#applications = new Applications(this.#endpoint, this.gone);
    this.#inhabit(this.#endpoint, server);
    for (let digit = next.digits.take(); digit !== undefined; digit = next.digits.take()) this.digits.push(digit);
    this.#hearTones();
    // Ends the old channel; its media server may be gone.
    void next.destroy().catch(() => undefined);
  }

  /** Sets a channel variable. */
  async set(name: string, value: string): Promise<void> {
    await this.#bounded(this.#endpoint.execute('set', `${name}=${value}`));
  }

  /**
   * Plays one source (path, `tone_stream://`, `silence_stream://`, `spokenSource`, ...) to its end.
   * @returns milliseconds played
   * @throws MediaError for a missing file, or a text without a speech engine; the signal's reason when it aborts, which
   * stops the sound
   */
  async play(source: string, signal: AbortSignal): Promise<number> {
    const spoken = readSpokenSource(source);
    if (spoken) return this.speak(spoken.text, spoken.voice, signal);
    const event = await this.#run('playback', source, signal);
    if (event.getHeader('Application-Response') === 'FILE NOT FOUND') {
      throw new MediaError(`the media server cannot find ${source}`);
    }
    return Number(event.getHeader('variable_playback_ms') ?? 0);
  }

  /**
   * Records the phone into a WAV file until the time limit, the silence limit, or an abort. A phone that suppresses
   * silence counts as silent meanwhile; the recording contains its pauses.
   * @returns milliseconds recorded
   */
  async record({ append, ...what }: RecordWhat, signal: AbortSignal): Promise<number> {
    await this.command('uuid_setvar_multi', `record_fill_cng=true;RECORD_APPEND=${append}`);
    const event = await this.#run('record', recordArguments(what), signal);
    return Number(event.getHeader('variable_record_ms') ?? 0);
  }

  /** Settles when the latest recording's file is complete, within a second even if the phone has left meanwhile. */
  recorded(): Promise<void> {
    return this.#applications.through();
  }

  /**
   * Plays the sound of another endpoint's party to this endpoint's far end, and nothing else. Settles at its end. DTMF
   * does not change what is heard.
   */
  async eavesdrop(target: MediaEndpoint): Promise<void> {
    await this.command('uuid_setvar_multi', 'eavesdrop_bridge_aleg=true;eavesdrop_enable_dtmf=false');
    await this.#bounded(this.#endpoint.execute('eavesdrop', target.uuid));
  }

  /**
   * Plays what another endpoint's party says and hears to this endpoint's far end, until that endpoint is gone, the far end
   * presses `*`, or the signal aborts. The digits 0 to 3 change who hears the far end: nobody, the other side, the party, both.
   * @param mode who hears it at first
   * @throws the signal's reason
   */
  async supervise(
    target: Pick<MediaEndpoint, 'uuid'>,
    mode: 'listen' | 'whisper' | 'barge',
    signal: AbortSignal,
  ): Promise<void> {
    const variables = {
      eavesdrop_bridge_aleg: true,
      eavesdrop_bridge_bleg: true,
      eavesdrop_enable_dtmf: true,
      eavesdrop_whisper_bleg: mode !== 'listen',
      eavesdrop_whisper_aleg: mode === 'barge',
    };
    const text = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    await this.command('uuid_setvar_multi', text.join(';'));
    try {
      await this.#run('eavesdrop', target.uuid, signal, () => this.park());
    } finally {
      // The digits are not meant for the next block.
      while (this.digits.take() !== undefined);
    }
  }

  /**
   * Sends a media server command about this channel: `NAME UUID ARGUMENTS`.
   * @throws MediaError with the media server's refusal
   */
  async command(name: string, args: string): Promise<void> {
    const event = await this.#bounded(this.#endpoint.api(name, `${this.uuid} ${args}`));
    const answer = event.getBody().trim();
    if (answer.startsWith('-')) throw new MediaError(`the media server refused ${name}: ${answer}`);
  }

  /**
   * Speaks a text with the media server's speech engine.
   * @returns milliseconds spoken
   * @throws NoSpeechEngine; the signal's reason
   */
  async speak(text: string, voice: string, signal: AbortSignal): Promise<number> {
    const started = performance.now();
    await this.command('uuid_setvar_multi', speechSettings(voice));
    const event = await this.#run('playback', speechArguments(text), signal);
    if (event.getHeader('Application-Response') === 'PLAYBACK ERROR') throw new NoSpeechEngine();
    return Math.round(performance.now() - started);
  }

  /** Echoes the phone's sound until the signal aborts or the endpoint is gone. */
  async echo(signal: AbortSignal): Promise<void> {
    await this.#run('echo', '', signal, () => this.park());
  }

  /** Ends the channel's bridge or echo and parks it; a bridged peer is parked too. */
  async park(): Promise<void> {
    await this.#mayLeave();
    if (this.#destroyed || this.#gone.signal.aborted) return;
    await this.#quietly(this.#endpoint.api('uuid_transfer', `${this.uuid} -both park inline`));
  }

  /** Bridges two endpoints; settles when the media server has accepted the command. It begins some 20 ms later. */
  async bridge(other: MediaEndpoint): Promise<void> {
    await Promise.all([this.#mayLeave(), other.#mayLeave()]);
    if (this.#destroyed || other.#destroyed) throw ENDPOINT_GONE;
    await Promise.all([this.#deafen(), other.#deafen()]);
    const young = new YoungBridge(other.#endpoint, [this.gone, other.gone]);
    this.#bridge = { other, young };
    other.#bridge = { other: this, young };
    const event = await this.#bounded(this.#endpoint.api('uuid_bridge', `${this.uuid} ${other.uuid}`));
    const body = event.getBody();
    if (!body.startsWith('+OK')) {
      this.#bridge = other.#bridge = undefined;
      throw new MediaError(`the media server cannot bridge: ${body.trim()}`);
    }
    other.gone.throwIfAborted();
  }

  /** Settles when the media server permits leaving the bridge, if any; never rejects. */
  async #mayLeave(): Promise<void> {
    const bridge = this.#bridge;
    if (bridge === undefined) return;
    // Both legs may be ended in one turn: neither should outlive the other.
    await Promise.resolve();
    if (!this.#destroyed || !bridge.other.#destroyed) await bridge.young.flows();
    if (this.#bridge === bridge) this.#bridge = undefined;
  }

  /** Parts two bridged endpoints; settles when both are free. A gone endpoint counts as free. */
  async unbridge(other: MediaEndpoint): Promise<void> {
    // FreeSWITCH parks a leg that has lost its peer, except when the peer was lost during bridging: then it waits
    // forever.
    const left = [this, other].filter((leg) => !leg.#destroyed && !leg.gone.aborted);
    try {
      await Promise.all(left.map((leg) => leg.#bounded(followExecutions(leg.#endpoint.conn))));
      const late = new Set(left);
      const begun = left.map((leg) => begins(leg.#endpoint, 'park').then(() => void late.delete(leg)));
      await left[0]?.park();
      await soon(Promise.all(begun), left);
      // FreeSWITCH at times leaves the first leg idle (CS_RESET), where it runs no application.
      const again = Promise.all(Array.from(late, (leg) => begins(leg.#endpoint, 'park')));
      for (const leg of late) await leg.#bounded(leg.#endpoint.api('uuid_transfer', `${leg.uuid} park inline`));
      await soon(again, left);
    } catch (error) {
      if (!(error instanceof EndpointGone)) throw error;
    }
  }

  /**
   * Parks a parked channel again; settles when it has begun. Not by `uuid_transfer`, which waits for the lock of the codec: up to a
   * second while packets are read.
   * @throws EndpointGone
   */
  async #parkAnew(): Promise<void> {
    const parked = await this.#bounded(nextParking(this.#endpoint));
    await this.#bounded(this.#endpoint.api('uuid_park', this.uuid));
    await soon(parked(), [this]);
  }

  /**
   * Adds the channel to a conference of the media server.
   * @param entry argument of the `conference` application
   * @returns settles when the channel is free again: it left, was removed, or was not admitted
   */
  async conference(entry: string): Promise<void> {
    await this.#bounded(this.#endpoint.execute('conference', entry));
  }

  /** Reports conference events of the channel, until the returned function is called. */
  watchConference(listener: (action: string, member: number) => void): () => void {
    const connection = this.#endpoint.conn;
    const name = `esl::event::CUSTOM::${this.uuid}`;
    const told = (event: FsEvent) => {
      if (event.getHeader('Event-Subclass') !== 'conference::maintenance') return;
      listener(event.getHeader('Action') ?? '', Number(event.getHeader('Member-ID') ?? 0));
    };
    connection?.subscribe(['CUSTOM conference::maintenance']);
    connection?.on(name, told);
    return () => void connection?.removeListener(name, told);
  }

  /** Sends digits to the phone by RFC 4733, or as tones in the sound to a phone without telephone-events. */
  async sendDtmf(digits: string): Promise<void> {
    // While a bridge begins, FreeSWITCH loses digits, or sends them by INFO to a phone that takes telephone-events.
    await this.#bridge?.young.flows();
    const tones = this.#session.digitsAreTones;
    if (tones) await this.#bounded(this.#tones.speak(this.#endpoint));
    await this.#bounded(this.#endpoint.api('uuid_send_dtmf', `${this.uuid} ${tones ? '~' : ''}${digits}`));
  }

  /** Passes a digit from INFO to the channel, as if it had come by RFC 4733. */
  async receiveDtmf(digit: string): Promise<void> {
    await this.#bounded(this.#endpoint.api('uuid_recv_dtmf', `${this.uuid} ${digit}`));
  }

  /** Has the sound searched for digits while somebody listens for them, and the far end has no other way to send them. */
  #hearTones(): void {
    const { digitsAreTones } = this.#session;
    if (this.#gone.signal.aborted || this.#destroyed) return;
    if (!digitsAreTones) void this.#tones.hear(this.#endpoint, false);
    else if (this.digits.heard) void this.#tones.hear(this.#endpoint, true);
  }

  /** Ends the search of the sound for digits that nobody waits for. Those typed ahead of the next block were still heard. */
  async #deafen(): Promise<void> {
    if (!this.digits.heard) await this.#bounded(this.#tones.hear(this.#endpoint, false));
  }

  /** Ends the channel. Idempotent; never rejects. */
  async destroy(): Promise<void> {
    if (this.#destroyed) return;
    this.#destroyed = true;
    // Otherwise its bridged peer would be hung up with it.
    await this.#mayLeave();
    if (this.#gone.signal.aborted) return;
    await this.#quietly(hangUp(this.#endpoint));
    this.#gone.abort(ENDPOINT_GONE);
  }

  /** Takes over a channel. */
  #inhabit(endpoint: FsEndpoint, server: EndpointServer): void {
    server.entered(this);
    const before = this.#figures;
    const figures = server.figures.of(endpoint.uuid, this.gone);
    this.#figures = Promise.all([before, figures]).then(([first, then]) => bothFigures(first, then));
    const gone = () => {
      server.left(this);
      // The channel left behind by a move no longer concerns this endpoint.
      if (this.#endpoint === endpoint) this.#gone.abort(ENDPOINT_GONE);
    };
    endpoint.conn?.on(`esl::event::DTMF::${endpoint.uuid}`, (event) => {
      if (this.#endpoint === endpoint && !isOwnTone(event)) this.digits.push(event.getHeader('DTMF-Digit') ?? '');
    });
    endpoint.dialog?.on('info', (request: FsRequest, response: { send(status: number): void }) => {
      response.send(200);
      if (this.#endpoint === endpoint) this.onInfo(request.get('Content-Type') ?? '', request.body);
    });
    endpoint.once('destroy', gone);
    endpoint.dialog?.once('destroy', gone);
    this.gone.addEventListener('abort', () => server.left(this), { once: true });
  }

  /** Runs an application; see `Applications.run`. */
  async #run(
    application: string,
    data: string,
    signal: AbortSignal,
    interrupt?: () => Promise<void>,
  ): Promise<FsEvent> {
    this.#keepDigits();
    const event = await this.#applications.run(application, data, signal, interrupt);
    // The application's end may be reported before the end of the channel that caused it.
    if (this.#destroyed) throw ENDPOINT_GONE;
    return event;
  }

  /** The node handles digits: by default `*` would stop every sound. Queued before the first application. */
  #keepDigits(): void {
    if (this.#digitsKept) return;
    this.#digitsKept = true;
    this.set('playback_terminators', 'none').catch(() => {
      // The channel has ended; the next application reports it.
    });
  }

  #bounded<T>(work: Promise<T>): Promise<T> {
    return untilAborted(work, this.#gone.signal);
  }

  /** For commands that fail only when the channel has ended. */
  async #quietly(work: Promise<unknown>): Promise<void> {
    try {
      await this.#bounded(work);
    } catch (error) {
      if (!this.#gone.signal.aborted) throw error;
    }
  }
}

/** Milliseconds after which two channels count as started without a notice from the media server. */
const BEGIN_MS = 1000;

/**
 * Waits until the channels have started their commands. The media server confirms earlier, and a command in between
 * would meet the former state.
 * @throws EndpointGone
 */
async function soon(begun: Promise<unknown>, legs: readonly MediaEndpoint[]): Promise<void> {
  await untilAborted(Promise.race([begun, elapsed(BEGIN_MS)]), AbortSignal.any(legs.map(({ gone }) => gone)));
}
