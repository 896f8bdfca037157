/** The softphone in its drawer: the same as at `/phone`. */
import { useEffect, useRef } from 'preact/hooks';
import { PhoneView } from '../../../phone/page/phone-view.js';
import { openDrawer } from '../lib/drawer.ts';
import { orToast } from '../parts/toasts.tsx';
import { loadPhone, ownAccount, PHONE } from '../stores/phone.ts';

export default function PhoneDrawer() {
  const root = useRef<HTMLDivElement>(null);
  const shown = useRef<PhoneView>(null);
  const isOpen = openDrawer.value === PHONE;
  useEffect(() => {
    if (isOpen) shown.current?.focus();
  }, [isOpen]);
  useEffect(() => {
    let isWanted = true;
    orToast(
      loadPhone().then((phone) => {
        if (!isWanted || root.current === null) return;
        shown.current = new PhoneView(root.current, phone, ownAccount());
        if (openDrawer.value === PHONE) shown.current.focus();
      }),
    );
    return () => {
      isWanted = false;
      shown.current?.close();
    };
  }, []);
  return <div ref={root} class="phone" />;
}
