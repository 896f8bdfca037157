/** Registrations. */
import { catalogue } from '../lib/words.ts';

export const words = catalogue({
  title: ['Registrations', 'Registrierungen'],
  none: ['No phone is registered.', 'Kein Telefon ist registriert.'],
  login: ['Login', 'Anmeldename'],
  number: ['Number', 'Nummer'],
  contact: ['Contact', 'Kontakt'],
  address: ['Address', 'Adresse'],
  transport: ['Transport', 'Transport'],
  device: ['Device', 'Gerät'],
  since: ['Since', 'Seit'],
  renewed: ['Renewed', 'Erneuert'],
  expires: ['Expires', 'Läuft ab'],
  end: ['End the registration', 'Registrierung beenden'],
  gone: [
    '{login} is no longer registered; the phone may register again.',
    '{login} ist nicht mehr registriert; das Telefon kann sich neu registrieren.',
  ],
});
