/**
 * Words for every reason, in both languages. `{name}` stands for an argument. A test reads the Rust sources and fails when a
 * code used there has no words here.
 */
import type { Reason } from "../ipc/bindings";
import type { Locale } from "./format";

type Words = Record<Locale, string>;

export const reasons: Record<string, Words> = {
  answered: { zh: "回答完成。", en: "The answer is complete." },
  nothing_found: { zh: "在可见的资料里没有找到相关内容。", en: "Nothing about this was found in the documents you can see." },
  claim_words_found: { zh: "引文中有这句话的数字和名称。", en: "The quotation has the numbers and names of this sentence." },
  password_required: { zh: "文件有密码保护。请去掉密码后重新添加。", en: "The file is protected by a password. Remove it and add the file again." },
  page_unreadable: { zh: "第 {page} 页无法读取。", en: "Page {page} could not be read." },
  format_unsupported: { zh: "还不支持这种文件。", en: "This kind of file is not supported yet." },
};

export function hasReason(code: string): boolean {
  return Object.hasOwn(reasons, code);
}

export function reasonText(reason: Reason, locale: Locale): string {
  const words = Object.hasOwn(reasons, reason.code) ? reasons[reason.code] : undefined;
  if (words === undefined) return reason.code.replaceAll("_", " ");
  return words[locale].replace(/\{([a-z_]+)\}/gu, (_, name: string) => reason.args[name] ?? "").trim();
}
