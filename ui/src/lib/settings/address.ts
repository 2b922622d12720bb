/** Addresses and ids of model services. */

/** The machine an address names; the address itself when it is none. */
export function hostOf(address: string): string {
  try {
    return new URL(address).host;
  } catch {
    return address;
  }
}

/** The address stays on this computer. */
export function isLocal(address: string): boolean {
  const host = hostOf(address).replace(/:\d+$/u, "");
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/u.test(host);
}

/** A name as an id: what the keychain and the settings file can carry. */
export function idOf(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/gu, "-")
    .replace(/^-|-$/gu, "")
    .slice(0, 40);
}
