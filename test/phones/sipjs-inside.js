// The script of a page that calls by SIP.js. Tests steer `phone`.
import { SessionState, Web } from 'sip.js';

/** @type {Web.SessionManager | undefined} */
let manager;
let registered = false;
/** The calls of this page, oldest first. */
const calls = [];
const texts = [];

/** What a user needs: the newest call that is not over, or an older one. */
function callOf(age = 0) {
  const live = calls.filter(({ session }) => session.state !== SessionState.Terminated);
  const call = live.at(-1 - age);
  if (call === undefined) throw new Error(`there is no call ${age}`);
  return call.session;
}

globalThis.phone = {
  async start({ server, login, password, domain, digits }) {
    manager = new Web.SessionManager(server, {
      aor: `sip:${login}@${domain}`,
      maxSimultaneousSessions: 0,
      reconnectionAttempts: 30,
      reconnectionDelay: 1,
      sendDTMFUsingSessionDescriptionHandler: digits === 'rtp',
      // A page without an element gets no sound.
      media: { remote: () => ({ audio: new Audio() }) },
      userAgentOptions: { authorizationUsername: login, authorizationPassword: password, logLevel: 'warn' },
      delegate: {
        onRegistered: () => (registered = true),
        onUnregistered: () => (registered = false),
        onServerDisconnect: () => (registered = false),
        onCallCreated: (session) => calls.push({ session, held: false }),
        onCallHold: (session, held) => (calls.find((call) => call.session === session).held = held),
        onMessageReceived: (message) => texts.push(message.request.body),
      },
    });
    // Without a listener, it refuses calls.
    manager.delegate.onCallReceived = () => undefined;
    await manager.connect();
    await manager.register();
  },
  stop: () => manager?.unregister(),
  shown: () => ({
    registered,
    calls: calls.map(({ session, held }) => ({ state: session.state, held })),
    texts,
  }),
  call: (target) => manager.call(target),
  answer: () => manager.answer(callOf()),
  decline: () => manager.decline(callOf()),
  hangup: () => manager.hangup(callOf()),
  hold: () => manager.hold(callOf()),
  unhold: () => manager.unhold(callOf()),
  digit: (digit) => manager.sendDTMF(callOf(), digit),
  text: (target, text) => manager.message(target, text),
  transfer: (target) => manager.transfer(callOf(), target),
  /** Connects the party of the older call with that of the newer one. */
  join: () => manager.transfer(callOf(1), callOf()),
};
