/** Bridges between two channels. */
import { randomUUID } from 'node:crypto';
import { type DigitSource, NO_RESPONSE, type RunningApplication } from './application.ts';
import { silentFrame } from '../audio/format.ts';
import type { Channel } from './channel.ts';
import type { OtherLeg } from './parts.ts';
import { HeardAudio } from './heard-audio.ts';

/** Frames after which a bridge counts as carrying sound, as in FreeSWITCH. */
const LEAD_FRAMES = 10;

/** Two connected channels: packets are passed on as they arrive. The end of either side dissolves the bridge. */
class Bridge {
  readonly #legs: readonly [BridgeLeg, BridgeLeg];
  #dissolved = false;

  constructor(first: Channel, second: Channel) {
    this.#legs = [new BridgeLeg(this, first), new BridgeLeg(this, second)];
  }

  get dissolved(): boolean {
    return this.#dissolved;
  }

  get legs(): readonly [BridgeLeg, BridgeLeg] {
    return this.#legs;
  }

  /** Joins the media while neither leg has another application on top. */
  update(): void {
    const [first, second] = this.#legs;
    const joined = !this.#dissolved && !first.suspended && !second.suspended;
    first.channel.rtp.joinTo(joined && !second.mixes ? second.channel.rtp : undefined);
    second.channel.rtp.joinTo(joined && !first.mixes ? first.channel.rtp : undefined);
  }

  dissolve(): void {
    if (this.#dissolved) return;
    this.#dissolved = true;
    this.update();
    const [first, second] = this.#legs;
    const headers = { 'Bridge-A-Unique-ID': first.channel.uuid, 'Bridge-B-Unique-ID': second.channel.uuid };
    first.channel.publish('CHANNEL_UNBRIDGE', { last: headers });
    for (const [leg, other] of [
      [first, second],
      [second, first],
    ] as const) {
      leg.channel.variables.delete('bridge_to');
      leg.channel.variables.delete('bridge_uuid');
      leg.channel.variables.delete('signal_bond');
      leg.channel.set('last_bridge_to', other.channel.uuid);
      if (other.channel.ended) leg.channel.set('last_bridge_hangup_cause', other.channel.hangupCause ?? '');
      if (other.channel.ended) leg.channel.set('bridge_hangup_cause', other.channel.hangupCause ?? '');
      if (!leg.channel.bridged || leg.channel.ended) continue;
      leg.channel.setState('CS_PARK');
      leg.channel.setParked(true);
    }
  }
}

/** The application of one side of a bridge. When the other side ends, the channel is parked (`park_after_bridge`). */
class BridgeLeg implements RunningApplication {
  readonly response = NO_RESPONSE;
  readonly endsSilently = true;
  readonly channel: Channel;
  readonly #bridge: Bridge;
  suspended = false;
  /** Set while the other side's audio is decoded: this side has an overlay, or another codec. */
  #otherAudio: HeardAudio | undefined;
  #frames = 0;

  constructor(joint: Bridge, channel: Channel) {
    this.#bridge = joint;
    this.channel = channel;
  }

  tick(): boolean {
    if (this.#bridge.dissolved) return true;
    this.#frames += 1;
    if (this.#frames === LEAD_FRAMES) this.#executePreBridge();
    const { audio } = this.channel;
    if (this.#mustDecode !== this.mixes) this.#changeMode();
    if (this.#otherAudio === undefined) this.channel.rtp.writeNothing();
    else audio.write(this.#otherAudio.frame() ?? silentFrame(audio.rate));
    return false;
  }

  get #mustDecode(): boolean {
    return this.channel.audio.overlaid || !this.channel.rtp.relays(this.#other.channel.rtp);
  }

  get #other(): BridgeLeg {
    const { legs } = this.#bridge;
    return legs[0] === this ? legs[1] : legs[0];
  }

  /** Sends a digit to the other side, unless its telephone-event packets or its tones were passed on. */
  digit(digit: string, source: DigitSource, duration: number): void {
    const other = this.#other;
    if (this.#bridge.dissolved || source === 'INBAND_AUDIO') return;
    const passedOn = source === 'RTP' && other.channel.rtp.telephoneEvent !== undefined && !other.mixes;
    if (!passedOn) other.channel.sendDigits(digit, duration / 8);
  }

  /** Commands wait until the bridge carries sound, as in FreeSWITCH. */
  get ignoresCommands(): boolean {
    return this.#frames < LEAD_FRAMES;
  }

  get mixes(): boolean {
    return this.#otherAudio !== undefined;
  }

  /** Runs the variables `execute_on_pre_bridge...` (`application argument`) before any waiting command. */
  #executePreBridge(): void {
    const all = [...this.channel.variables].filter(([name]) => name.startsWith('execute_on_pre_bridge'));
    const due = all
      .flatMap(([, value]) => value)
      .map((each) => {
        const [application = '', ...argument] = each.split(' ');
        return { application, data: argument.join(' '), uuid: randomUUID() };
      });
    if (due.length > 0) this.channel.enqueueAhead(due);
  }

  #changeMode(): void {
    this.#otherAudio?.release();
    this.#otherAudio = this.#mustDecode ? HeardAudio.ofBridge(this.channel) : undefined;
    this.#bridge.update();
  }

  suspend(): void {
    this.suspended = true;
    this.#bridge.update();
  }

  resume(): void {
    this.suspended = false;
    this.#bridge.update();
  }

  end(): void {
    this.#otherAudio?.release();
    this.#bridge.dissolve();
  }
}

function otherLeg(type: OtherLeg['type'], { uuid, profile, leg, times }: Channel): OtherLeg {
  return { type, uuid, profile, leg: { ...leg, times: { ...times } } };
}

/** Connects two channels at the next tick. Their applications and bridges end. */
export function bridge(first: Channel, second: Channel): void {
  const channels = [first, second];
  first.joining = second;
  second.joining = first;
  second.atNextTick(() => second.endIfAlone());
  first.atNextTick(() => {
    for (const channel of channels) channel.joining = undefined;
    if (first.ended || second.ended) {
      for (const channel of channels) channel.endIfAlone();
      return;
    }
    for (const channel of channels) {
      channel.setState('CS_EXECUTE');
    }
    first.renewProfile('uuid_br', second.uuid);
    second.renewProfile('uuid_br', first.uuid);
    second.otherLeg = otherLeg('originator', first);
    first.otherLeg = otherLeg('originatee', second);
    first.set('bridge_channel', second.profile.channelName);
    second.set('bridge_channel', first.profile.channelName);
    for (const channel of channels) {
      channel.setParked(false);
      channel.unwind();
    }
    const { legs } = new Bridge(first, second);
    const pairs = [
      [first, second, legs[0]],
      [second, first, legs[1]],
    ] as const;
    for (const [channel, other, leg] of pairs) {
      channel.setState('CS_SOFT_EXECUTE');
      channel.times.bridged = Date.now() * 1000;
      channel.set('bridge_to', other.uuid);
      channel.set('bridge_uuid', other.uuid);
      channel.set('signal_bond', other.uuid);
      channel.run('uuid_bridge', other.uuid, leg);
    }
    second.setState('CS_EXCHANGE_MEDIA');
    legs[0].resume();
    const last = { 'Bridge-A-Unique-ID': first.uuid, 'Bridge-B-Unique-ID': second.uuid };
    first.publish('CHANNEL_BRIDGE', { last });
  });
}
