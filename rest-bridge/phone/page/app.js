/** The page of the phone. */
import { element, label } from './dom.js';
import { PhoneView } from './phone-view.js';
import { Phone } from './phone.js';
import { keepLanguage, preferredLanguage, speak, words } from './words.js';

const root = element('div', { className: 'phone page' });
document.body.append(root);
let language = preferredLanguage();
speak(language);
const phone = new Phone();

const choice = element(
  'select',
  { className: 'quiet' },
  element('option', { value: 'en', lang: 'en' }, 'English'),
  element('option', { value: 'de', lang: 'de' }, 'Deutsch'),
);
label(choice, 'language');
choice.value = language;
choice.addEventListener('change', () => {
  language = choice.value === 'de' ? 'de' : 'en';
  keepLanguage(language);
  phone.speak(language);
});

function showTitle() {
  const incoming = phone.live.find(({ state }) => state === 'incoming');
  const title = words('phone');
  document.title = incoming === undefined ? title : `${words('callsTitle', { name: incoming.title })} – ${title}`;
  document.documentElement.lang = language;
}

const view = new PhoneView(root, phone, { page: true, aside: [choice] });
phone.addEventListener('change', showTitle);
showTitle();
view.focus();
