/** The words of the phone in both languages. */

/** @typedef {'en' | 'de'} Language */

const KEY = 'ringmaster-language';
/** @type {Language} */
let language = 'en';

/** The language that the person chose in this browser, here or in the console; else the browser's. @returns {Language} */
export function preferredLanguage() {
  try {
    const chosen = localStorage.getItem(KEY);
    if (chosen === 'en' || chosen === 'de') return chosen;
  } catch {
    // Storage is forbidden in this browser.
  }
  return navigator.language.startsWith('de') ? 'de' : 'en';
}

/** @param {Language} chosen of what is said from now on */
export function speak(chosen) {
  language = chosen;
}

/** Keeps the chosen language in this browser, for the console too. @param {Language} chosen */
export function keepLanguage(chosen) {
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // It counts until the page is closed.
  }
}

/** English and German. `{name}` stands for a value. @satisfies {Record<string, readonly [string, string]>} */
const TEXTS = /** @type {const} */ ({
  phone: ['Phone', 'Telefon'],
  language: ['Language', 'Sprache'],
  logIn: ['Log in', 'Anmelden'],
  logOut: ['Log out', 'Abmelden'],
  login: ['Login', 'Anmeldename'],
  domain: ['Domain', 'Domäne'],
  password: ['SIP password', 'SIP-Passwort'],
  rememberName: ['Remember login and domain on this device', 'Anmeldename und Domäne auf diesem Gerät behalten'],
  rememberPassword: ['Remember the password too', 'Auch das Passwort behalten'],
  rememberHint: [
    'Whoever can use this device can then call in your name. Nothing else is kept.',
    'Wer dieses Gerät benutzen kann, kann dann in Ihrem Namen anrufen. Sonst wird nichts behalten.',
  ],
  demoAccounts: ['Demo accounts', 'Demo-Konten'],
  demoHint: [
    'Choose one here and another in a second window. They can call each other.',
    'Wählen Sie hier eines und in einem zweiten Fenster ein anderes. Sie können einander anrufen.',
  ],
  calls: ['Calls', 'Anrufe'],
  noCalls: [
    'No calls. This page rings when somebody calls you.',
    'Keine Anrufe. Diese Seite klingelt, wenn Sie angerufen werden.',
  ],
  call: ['Call', 'Anrufen'],
  target: ['Number or login', 'Nummer oder Anmeldename'],
  toTry: ['To try', 'Zum Ausprobieren'],
  ended: ['Ended', 'Beendet'],
  texts: ['Texts', 'Nachrichten'],
  keypad: ['Keypad', 'Tasten'],
  digits: ['Digits', 'Ziffern'],
  digitsSent: ['Digits sent', 'Gesendete Ziffern'],
  star: ['star', 'Stern'],
  hash: ['hash', 'Raute'],
  answer: ['Answer', 'Annehmen'],
  decline: ['Decline', 'Ablehnen'],
  hangUp: ['Hang up', 'Auflegen'],
  hold: ['Hold', 'Halten'],
  resume: ['Resume', 'Fortsetzen'],
  mute: ['Mute', 'Stumm'],
  unmute: ['Unmute', 'Wieder sprechen'],
  transfer: ['Transfer', 'Verbinden'],
  transferTo: ['Transfer to', 'Verbinden mit'],
  transferNow: ['Transfer now', 'Jetzt verbinden'],
  connectWith: ['Connect with {name}', 'Mit {name} verbinden'],
  callAgain: ['Call again', 'Noch einmal anrufen'],
  callsYou: ['{name} calls you', '{name} ruft an'],
  callsTitle: ['{name} calls', '{name} ruft an'],
  stateCalling: ['Calling…', 'Wird gerufen …'],
  stateRinging: ['Ringing…', 'Klingelt …'],
  stateIncoming: ['Calls you', 'Ruft an'],
  stateAnswering: ['Connecting…', 'Wird verbunden …'],
  stateTalking: ['Connected', 'Verbunden'],
  stateMuted: ['Connected, you are muted', 'Verbunden, Sie sind stumm'],
  stateHeld: ['On hold', 'Gehalten'],
  stateHeldThere: ['The other side holds the call', 'Die Gegenseite hält den Anruf'],
  stateTransferring: ['Transferring to {name}…', 'Wird mit {name} verbunden …'],
  stateMissed: ['Missed call', 'Verpasster Anruf'],
  stateCameIn: ['Incoming call', 'Eingehender Anruf'],
  stateWentOut: ['Outgoing call', 'Ausgehender Anruf'],

  connecting: ['Connecting…', 'Verbindung wird aufgebaut …'],
  loggingIn: ['Logging in…', 'Anmeldung läuft …'],
  ready: ['Ready: {name}', 'Bereit: {name}'],
  noServer: ['No connection to the server. Trying again…', 'Keine Verbindung zum Server. Neuer Versuch …'],
  retryIn: ['{why} Trying again in {seconds} seconds.', '{why} Neuer Versuch in {seconds} Sekunden.'],
  notNow: ['No call can be made now. {why}', 'Jetzt ist kein Anruf möglich. {why}'],
  logInFirst: ['Log in to call {number}.', 'Melden Sie sich an, um {number} anzurufen.'],
  badAccount: [
    'Login or domain has characters that no SIP address has.',
    'Anmeldename oder Domäne enthält Zeichen, die keine SIP-Adresse hat.',
  ],
  badTarget: [
    '"{target}" is no number, login or SIP address.',
    '„{target}“ ist keine Nummer, kein Anmeldename und keine SIP-Adresse.',
  ],

  micNotAllowed: [
    'The browser does not let this page use the microphone. Allow it at the icon left of the address, then call again.',
    'Der Browser lässt diese Seite nicht ans Mikrofon. Erlauben Sie es am Symbol links der Adresse, und rufen Sie noch einmal an.',
  ],
  micNotFound: [
    'No microphone was found. Connect one, then call again.',
    'Kein Mikrofon gefunden. Schließen Sie eines an, und rufen Sie noch einmal an.',
  ],
  micNotReadable: [
    'The microphone cannot be read. End other programs that use it, then call again.',
    'Das Mikrofon liefert nichts. Beenden Sie andere Programme, die es verwenden, und rufen Sie noch einmal an.',
  ],
  micOther: ['The microphone cannot be used: {message}.', 'Das Mikrofon lässt sich nicht verwenden: {message}.'],
  noNetwork: [
    'The browser finds no network for the sound. Connect this computer to one, even for calls that stay on it.',
    'Der Browser findet kein Netz für den Ton. Verbinden Sie diesen Rechner mit einem, auch für Anrufe auf ihm selbst.',
  ],
  insecure: [
    'Browsers give the microphone only to pages at https:// or at http://127.0.0.1. Open this page at one of these.',
    'Browser geben das Mikrofon nur Seiten unter https:// oder http://127.0.0.1. Öffnen Sie diese Seite dort.',
  ],
  noWebRtc: [
    'This browser cannot make calls: it has no WebRTC. Use another browser, or a newer release.',
    'Dieser Browser kann nicht telefonieren: Ihm fehlt WebRTC. Nehmen Sie einen anderen oder neueren Browser.',
  ],
  tooManyPhones: [
    'Too many phones are logged in to this account. Log one of them out.',
    'Zu viele Telefone sind mit diesem Konto angemeldet. Melden Sie eines ab.',
  ],
  wrongAccount: [
    'Login, domain or password is wrong. The password is the SIP password of the account.',
    'Anmeldename, Domäne oder Passwort ist falsch. Gemeint ist das SIP-Passwort des Kontos.',
  ],
  bannedSeconds: [
    'Too many wrong passwords. Try again in {n} seconds.',
    'Zu viele falsche Passwörter. Versuchen Sie es in {n} Sekunden wieder.',
  ],
  bannedMinutes: [
    'Too many wrong passwords. Try again in {n} minutes.',
    'Zu viele falsche Passwörter. Versuchen Sie es in {n} Minuten wieder.',
  ],
  serverSilent: ['The server did not answer.', 'Der Server antwortet nicht.'],
  serverRefused: ['The server refused the login: {status}.', 'Der Server lehnte die Anmeldung ab: {status}.'],
  transferred: ['Transferred to {name}.', 'Mit {name} verbunden.'],
  notTransferred: [
    'Not transferred to {name}. {why} The call is still here.',
    'Nicht mit {name} verbunden. {why} Der Anruf ist noch hier.',
  ],
  elsewhere: ['Answered at another phone.', 'An einem anderen Telefon angenommen.'],
  failedWith: ['The call failed: {status}.', 'Der Anruf schlug fehl: {status}.'],
  status: ['Status {status}.', 'Status {status}.'],

  400: ['The server did not accept the number. Check it.', 'Der Server nahm die Nummer nicht an. Prüfen Sie sie.'],
  401: [
    'The server refused the password. Log out and log in again.',
    'Der Server lehnte das Passwort ab. Melden Sie sich ab und wieder an.',
  ],
  403: ['This call is not allowed.', 'Dieser Anruf ist nicht erlaubt.'],
  404: ['Nobody has this number. Check it.', 'Niemand hat diese Nummer. Prüfen Sie sie.'],
  408: ['No answer.', 'Keine Antwort.'],
  410: ['This number is not in use any more.', 'Diese Nummer gibt es nicht mehr.'],
  480: [
    'Not available: no phone is registered there, or nobody answers.',
    'Nicht erreichbar: Dort ist kein Telefon angemeldet, oder niemand nimmt ab.',
  ],
  484: ['The number is incomplete.', 'Die Nummer ist unvollständig.'],
  486: ['Busy.', 'Besetzt.'],
  487: ['The call was cancelled.', 'Der Anruf wurde abgebrochen.'],
  488: [
    'The other phone has no sound in common with this browser.',
    'Das andere Telefon hat keinen gemeinsamen Codec mit diesem Browser.',
  ],
  500: ['The server had an error. Try again.', 'Im Server trat ein Fehler auf. Versuchen Sie es noch einmal.'],
  503: [
    'The server cannot take the call now. Try again in a moment.',
    'Der Server kann den Anruf jetzt nicht annehmen. Versuchen Sie es gleich noch einmal.',
  ],
  603: ['Declined.', 'Abgelehnt.'],

  'Connection Error': [
    'The connection to the server is lost. The page connects again by itself.',
    'Die Verbindung zum Server ist weg. Die Seite verbindet sich von selbst wieder.',
  ],
  'Request Timeout': [
    'The server did not answer. Try again.',
    'Der Server antwortete nicht. Versuchen Sie es noch einmal.',
  ],
  'RTP Timeout': [
    'No sound comes through: the connection is lost, or a firewall stops it.',
    'Es kommt kein Ton an: Die Verbindung ist weg, oder eine Firewall hält ihn auf.',
  ],
  'WebRTC Error': [
    'The browser could not set up the sound. Load the page again.',
    'Der Browser konnte den Ton nicht aufbauen. Laden Sie die Seite neu.',
  ],
  'Bad Media Description': [
    'The server sent a sound description that the browser does not take.',
    'Der Server schickte eine Tonbeschreibung, die der Browser nicht annimmt.',
  ],
  'Dialog Error': [
    'The server does not know this call any more: it was started again.',
    'Der Server kennt diesen Anruf nicht mehr: Er wurde neu gestartet.',
  ],
  'No ACK': ['The connection was lost while the call began.', 'Die Verbindung riss ab, als der Anruf begann.'],
  'No Answer': ['Not answered.', 'Nicht angenommen.'],
  Canceled: ['The caller gave up.', 'Der Anrufer gab auf.'],
});

/** @typedef {keyof typeof TEXTS} Word */

/**
 * A text in the present language.
 * @param {Word} key
 * @param {Record<string, string | number>} [values]
 */
export function words(key, values = {}) {
  const [english, german] = TEXTS[key];
  const text = language === 'de' ? german : english;
  return text.replaceAll(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** @param {unknown} key @returns {key is Word} */
export function isWord(key) {
  return Object.hasOwn(TEXTS, String(key));
}
