export const tauriApi = null as never;
