import type { RunProgram } from '../thread/run-program.ts';
import { ListenError } from '../listen-error.ts';
import { APIS } from './api/table.ts';
import { applications } from './apps/table.ts';
import { SoundLibrary } from './audio/sound-library.ts';
import { ConferenceTable } from './conference/table.ts';
import { startHeartbeat } from './core/heartbeat.ts';
import { Identity } from './core/identity.ts';
import { MediaCore } from './core/media-core.ts';
import { DirectCalls } from './direct/calls.ts';
import { ControllerConnections } from './esl/controller.ts';
import { EslListener } from './esl/listener.ts';
import { OwnAddresses } from '../stack/index.ts';
import { type MediaServerOptions, type MediaServerStats, readAddress } from './options.ts';
import { MediaHosts } from './rtp/media-hosts.ts';
import { PortPool } from './rtp/ports.ts';
import { Callers } from './sip/callers.ts';
import { SipProfile } from './sip/profile.ts';
import { Reception } from './sip/reception.ts';

/** A running media server in this thread. */
export class MediaServer {
  readonly #core: MediaCore;
  readonly #ports: PortPool;
  readonly #reception: Reception;
  readonly #profile: SipProfile;
  readonly #direct: DirectCalls | undefined;
  readonly #listener: EslListener;
  readonly #controllers: ControllerConnections;
  #addresses: Record<string, string> = {};

  /** @param run runs programs on this machine @throws MediaServerOptionError */
  constructor(options: MediaServerOptions, run: RunProgram) {
    const media = readAddress('media', options.media);
    const sounds = new SoundLibrary(options.sounds, () => this.#core.ticker.frame);
    const conferences = new ConferenceTable();
    this.#core = new MediaCore({
      identity: new Identity(new OwnAddresses().towards(media.host, '')),
      sounds,
      recordings: options.recordings,
      applications: applications(conferences),
      apis: APIS,
      conferences,
      profileName: options.profile,
      run,
    });
    this.#ports = new PortPool(options.rtpPorts);
    const hosts = new MediaHosts(options.rtpHosts ?? [media.host], options.publicAddresses ?? []);
    this.#controllers = new ControllerConnections(this.#core);
    this.#reception = new Reception(this.#core, { ports: this.#ports, hosts }, (channel, controller, direct) => {
      this.#controllers.attach(channel, controller, direct);
    });
    this.#profile = new SipProfile(this.#core, new Callers(options.callers), this.#reception);
    this.#direct = options.direct && new DirectCalls(this.#core, this.#reception, options.direct, media.host);
    this.#listener = new EslListener(this.#core, options.password);
  }

  /** Bound addresses: `eventSocket` and `sip`. */
  get addresses(): Readonly<Record<string, string>> {
    return this.#addresses;
  }

  /** Opens the listeners. Rejects with ListenError after closing those already open. */
  async start(options: MediaServerOptions): Promise<void> {
    try {
      const sip = await this.#profile.listen(readAddress('media', options.media));
      const eventSocket = await this.#listener.listen(readAddress('eventSocket', options.eventSocket));
      this.#addresses = { eventSocket, sip };
    } catch (error) {
      await this.#profile.close();
      // The SIP stack's own error names `SIP`, not the media server.
      throw error instanceof ListenError ? new ListenError(error.code, error.address, 'media server') : error;
    }
    this.#core.ticker.start();
    startHeartbeat(this.#core);
  }

  stats(): MediaServerStats {
    const { figures, channels, conferences, timers } = this.#core;
    const sip = this.#profile.endpoint.stats;
    return {
      channels: channels.size,
      conferences: conferences.size,
      rtpSockets: this.#ports.used,
      eventSockets: this.#listener.connections + this.#controllers.connections,
      sipDialogs: this.#reception.calls,
      sipTransactions: sip.clientTransactions + sip.serverTransactions,
      timers: timers.size + sip.timers,
      media: {
        packetsSent: figures.packetsSent,
        packetsLate: figures.packetsLate,
        maxLatenessMs: Math.round(figures.maxLatenessMs * 10) / 10,
      },
    };
  }

  /** Ends every call without BYE, and closes all sockets. */
  async close(): Promise<void> {
    this.#core.ticker.stop();
    this.#core.timers.clear();
    this.#controllers.close();
    this.#direct?.close();
    await Promise.all([this.#reception.close(), this.#profile.close()]);
    for (const channel of this.#core.channels.values()) channel.hangup('NORMAL_CLEARING', 'far-end');
    await this.#listener.close();
  }
}
