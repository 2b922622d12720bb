/** What a person reads when something went wrong: what happened and what is safe, then what to do. */
import type { Locale } from "./format";

export interface ProblemWords {
  happened: string;
  todo: string;
}

const words: Record<string, Record<Locale, ProblemWords>> = {
  not_found: {
    zh: { happened: "找不到这项内容，它可能已被移除。", todo: "其他资料不受影响。" },
    en: { happened: "This is no longer there.", todo: "It may have been removed. Everything else is unaffected." },
  },
  denied: {
    zh: { happened: "您没有权限进行这项操作。", todo: "如果需要，请联系资料库的所有者。" },
    en: { happened: "You are not permitted to do this.", todo: "Ask the owner of this vault if you need to." },
  },
  invalid_input: {
    zh: { happened: "填写的内容无法使用。", todo: "请检查后再试，其他内容没有改变。" },
    en: { happened: "This input cannot be used.", todo: "Please check it and try again. Nothing was changed." },
  },
  vault_locked: {
    zh: { happened: "另一个程序正在使用这个资料库。", todo: "关闭另一个知库窗口或命令后再试。资料没有受损。" },
    en: { happened: "Another program is using this vault.", todo: "Close the other Zhiku window or command, then try again. Your documents are safe." },
  },
  vault_too_new: {
    zh: { happened: "这个资料库由更新版本的知库创建。", todo: "请升级知库后再打开。资料没有改动。" },
    en: { happened: "This vault was written by a newer version of Zhiku.", todo: "Update Zhiku to open it. Nothing was changed." },
  },
  model_missing: {
    zh: { happened: "缺少一个本地模型。", todo: "可以在“设置 › 本地模型”中下载。在此之前，仍可按字词搜索。" },
    en: { happened: "A local model is missing.", todo: "Download it under Settings › Local models. Word search works meanwhile." },
  },
  model_damaged: {
    zh: { happened: "一个本地模型的文件已损坏。", todo: "请在“设置 › 本地模型”中重新下载。资料不受影响。" },
    en: { happened: "A local model's file is damaged.", todo: "Download it again under Settings › Local models. Your documents are safe." },
  },
  model_crashed: {
    zh: { happened: "本地模型意外停止了。", todo: "它会自动重新载入，请再试一次。资料不受影响。" },
    en: { happened: "A local model stopped unexpectedly.", todo: "It reloads by itself, please try again. Your documents are safe." },
  },
  password_required: {
    zh: { happened: "这个文件有密码保护。", todo: "请在资料列表中输入密码；密码不会保存。" },
    en: { happened: "This file is protected by a password.", todo: "Enter the password in the list of documents; it is not kept." },
  },
  unsupported_format: {
    zh: { happened: "还不支持这种文件。", todo: "可以添加 PDF、Word、Markdown、网页、文本和 CSV 文件。" },
    en: { happened: "This kind of file is not supported.", todo: "PDF, Word, Markdown, HTML, text and CSV files can be added." },
  },
  damaged_file: {
    zh: { happened: "文件已损坏，无法读取。", todo: "请用原来的软件打开并重新保存，然后再添加。" },
    en: { happened: "The file is damaged and cannot be read.", todo: "Open it in its own program, save it again, then add it." },
  },
  key_missing: {
    zh: { happened: "这个模型服务还没有密钥。", todo: "请在“设置 › 云端模型与密钥”中存入，或改用“摘录原文”。" },
    en: { happened: "No key is stored for this model service.", todo: "Store one under Settings › Cloud models and keys, or answer with quotations." },
  },
  key_rejected: {
    zh: { happened: "模型服务不接受这个密钥。", todo: "请检查密钥是否正确、是否过期，或改用“摘录原文”。" },
    en: { happened: "The model service refused the key.", todo: "Check that the key is right and still valid, or answer with quotations." },
  },
  rate_limited: {
    zh: { happened: "模型服务请求太频繁，或额度已用完。", todo: "请稍等片刻再试，或改用“摘录原文”。" },
    en: { happened: "The model service takes no more requests for now.", todo: "Wait a moment and try again, or answer with quotations." },
  },
  timeout: {
    zh: { happened: "等待时间太长，已停止。", todo: "请再试一次。问题已保留，资料不受影响。" },
    en: { happened: "This took too long and was stopped.", todo: "Please try again. Your question is kept and your documents are safe." },
  },
  network: {
    zh: { happened: "无法连接到网络服务。", todo: "请检查网络或代理设置。本机的搜索和摘录不需要网络。" },
    en: { happened: "The network service cannot be reached.", todo: "Check the network or proxy. Search and quotations work without it." },
  },
  cancelled: {
    zh: { happened: "已停止。", todo: "可以重新提问。" },
    en: { happened: "Stopped.", todo: "You can ask again." },
  },
  budget_exhausted: {
    zh: { happened: "这个问题超出了单次回答的限额。", todo: "请把问题拆小一些，或缩小资料范围。" },
    en: { happened: "This question went over the limits of one answer.", todo: "Ask in smaller parts or choose fewer documents." },
  },
  keychain_unavailable: {
    zh: { happened: "系统的密钥串无法使用。", todo: "请解锁或启用系统密钥串后再试。密钥没有保存到别处。" },
    en: { happened: "The system keychain is not available.", todo: "Unlock or enable it, then try again. The key was not stored anywhere else." },
  },
  internal: {
    zh: { happened: "知库内部出错了。", todo: "请再试一次；如果反复出现，请把技术细节告诉开发者。资料不受影响。" },
    en: { happened: "Something went wrong inside Zhiku.", todo: "Please try again. If it happens again, report the technical detail. Your documents are safe." },
  },
};

export function knowsProblem(code: string): boolean {
  return Object.hasOwn(words, code);
}

export function problemWords(code: string, locale: Locale): ProblemWords {
  const known = Object.hasOwn(words, code) ? words[code] : words["internal"];
  return known?.[locale] ?? { happened: code, todo: "" };
}
