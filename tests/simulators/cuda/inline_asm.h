// PTX inside of CUDA C: asm statements of the instructions that warp.h has become calls, and all others are refused.
//
// Source: "Inline PTX Assembly in CUDA", section "Assembler (ASM) Statements".
#pragma once

#include <cctype>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// Reads the parts of an asm statement, one after the other.
struct AsmReader {
  const std::string &source;
  size_t at;

  void skip_space() {
    while (at < source.size() && std::isspace((unsigned char)source[at])) at++;
  }
  bool take(const std::string &text) {
    skip_space();
    if (source.compare(at, text.size(), text)) return false;
    at += text.size();
    return true;
  }
  void expect(const std::string &text) {
    if (!take(text)) throw std::runtime_error("asm: expected " + text + " before: " + source.substr(at, 40));
  }
  std::string string() {
    std::string out;
    for (expect("\""); at < source.size() && source[at] != '"'; at++) {
      if (source[at] == '\\') throw std::runtime_error("asm: no escapes are known");
      out += source[at];
    }
    expect("\"");
    skip_space();
    return at < source.size() && source[at] == '"' ? out + string() : out;
  }
  std::string expression() {
    expect("(");
    size_t begin = at;
    for (int depth = 1; at < source.size(); at++) {
      depth += source[at] == '(' ? 1 : source[at] == ')' ? -1 : 0;
      if (!depth) break;
    }
    std::string out = source.substr(begin, at - begin);
    expect(")");
    return out;
  }
};

struct AsmOperand {
  std::string constraint, expression;

  bool is_given() const { return constraint[0] == '='; }
  // The type of the register: a float for f, 32 bits for r.
  const char *type() const {
    if (constraint == "r" || constraint == "=r") return "unsigned int";
    if (constraint == "f" || constraint == "=f") return "float";
    if (constraint == "l") return "unsigned long long";
    throw std::runtime_error("asm: no operand is known that is " + constraint);
  }
};

std::vector<AsmOperand> asm_operands(AsmReader &reader) {
  std::vector<AsmOperand> out;
  for (bool are_given : {true, false}) {
    if (!reader.take(":")) break;
    while (reader.skip_space(), reader.source[reader.at] == '"') {
      std::string constraint = reader.string();
      out.push_back({constraint, reader.expression()});
      if (out.back().is_given() != are_given) throw std::runtime_error("asm: " + constraint + " stands on the wrong side");
      reader.take(",");
    }
  }
  if (reader.take(":")) reader.string();  // what else changes: memory
  return out;
}

// Returns the operands that a part of the instruction names, such as %0 or {%0, %1}.
std::vector<AsmOperand> asm_named(const std::string &part, const std::vector<AsmOperand> &operands) {
  std::vector<AsmOperand> out;
  std::regex number("%(\\d+)");
  for (std::sregex_iterator each(part.begin(), part.end(), number), end; each != end; each++) {
    size_t index = std::stoul((*each)[1]);
    if (index >= operands.size()) throw std::runtime_error("asm: there is no operand " + each->str());
    out.push_back(operands[index]);
  }
  if (out.empty()) throw std::runtime_error("asm: " + part + " names no operand");
  for (auto &operand : out)
    if (operand.type() != std::string(out[0].type())) throw std::runtime_error("asm: " + part + " mixes types");
  return out;
}

// Returns the arrays that stand for the lists of an instruction, its call, and what it gives.
std::string asm_call(const std::string &function, const std::vector<std::vector<AsmOperand>> &lists) {
  std::string before, arguments, after;
  for (size_t i = 0; i < lists.size(); i++) {
    std::string name = "plugrad_list" + std::to_string(i);
    std::string type = lists[i][0].type();
    if (lists[i][0].is_given() != (i == 0)) throw std::runtime_error("asm: the first list alone is what is given");
    before += (i ? "const " : "") + type + " " + name + "[" + std::to_string(lists[i].size()) + "]";
    if (i) {
      before += " = {";
      for (auto &operand : lists[i]) before += "plugrad_in_register<" + type + ">(" + operand.expression + "), ";
      before += "}";
    } else {
      for (size_t k = 0; k < lists[i].size(); k++)
        after += lists[i][k].expression + " = " + name + "[" + std::to_string(k) + "]; ";
    }
    before += "; ";
    arguments += (i ? ", " : "") + name;
  }
  return "{ " + before + function + "(" + arguments + "); " + after + "}";
}

std::string asm_as_call(const std::string &text, const std::vector<AsmOperand> &operands) {
  std::smatch found;
  static const std::regex tf32("\\s*cvt\\.rna\\.tf32\\.f32\\s+(%\\d+),\\s*(%\\d+);\\s*");
  static const std::regex negation("\\s*neg\\.s32\\s+(%\\d+),\\s*(%\\d+);\\s*");
  static const std::regex matrices(
      "\\s*mma\\.sync\\.aligned\\.m(8|16)n8k(8|16|32)\\.row\\.col\\.(f32|s32)\\.(\\w+)\\.(\\w+)\\.(\\w+)\\s+"
      "(\\{[^}]*\\}),\\s*(\\{[^}]*\\}),\\s*(\\{[^}]*\\}),\\s*(\\{[^}]*\\});\\s*");
  if (std::regex_match(text, found, tf32))
    return asm_call("plugrad_tf32_of<>", {asm_named(found[1], operands), asm_named(found[2], operands)});
  if (std::regex_match(text, found, negation))
    return asm_call("plugrad_negated", {asm_named(found[1], operands), asm_named(found[2], operands)});
  static const std::regex copy(
      "\\s*cp\\.async\\.(ca|cg)\\.shared\\.global\\s+\\[(%\\d+)\\],\\s*\\[(%\\d+)\\],\\s*(\\d+),\\s*(%\\d+);\\s*");
  if (std::regex_match(text, found, copy)) {
    AsmOperand to = asm_named(found[2], operands)[0], from = asm_named(found[3], operands)[0];
    AsmOperand read = asm_named(found[5], operands)[0];
    if (found[1] == "cg" && found[4] != "16") throw std::runtime_error("asm: cp.async.cg copies 16 bytes");
    if (to.constraint != "r" || from.constraint != "l") throw std::runtime_error("asm: no addresses of cp.async");
    return "plugrad_copy_async<" + found[4].str() + ">(plugrad_shared(" + to.expression + "), (const void *)(" +
           from.expression + "), " + read.expression + ");";
  }
  static const std::regex groups("\\s*cp\\.async\\.(?:(commit)_group|wait_group\\s+(\\d+));\\s*");
  if (std::regex_match(text, found, groups))
    return found[1].matched ? "plugrad_commit_copies();" : "plugrad_wait_for_copies(" + found[2].str() + ");";
  static const std::regex rows(
      "\\s*ldmatrix\\.sync\\.aligned\\.m8n8\\.x([124])(\\.trans)?\\.shared\\.b16\\s+(\\{[^}]*\\}),\\s*\\[(%\\d+)\\];\\s*");
  if (std::regex_match(text, found, rows)) {
    std::vector<AsmOperand> given = asm_named(found[3], operands), at = asm_named(found[4], operands);
    if (std::to_string(given.size()) != found[1]) throw std::runtime_error("asm: the instruction has other registers");
    std::string after, name = "plugrad_rows";
    for (size_t k = 0; k < given.size(); k++) after += given[k].expression + " = " + name + "[" + std::to_string(k) + "]; ";
    return "{ unsigned int " + name + "[" + found[1].str() + "]; plugrad_load_matrix<" +
           (found[2].matched ? "true" : "false") + ">(" + name + ", plugrad_shared(" + at[0].expression + ")); " + after + "}";
  }
  if (!std::regex_match(text, found, matrices)) throw std::runtime_error("asm: there is no " + text + " here");
  std::string given = found[3], element = found[4];
  bool is_float = element[0] != 's' && element[0] != 'u';
  if (found[5] != element || found[6] != given || is_float != (given == "f32"))
    throw std::runtime_error("asm: no instruction has the types of " + text);
  std::vector<std::vector<AsmOperand>> lists;
  for (int part = 7; part <= 10; part++) lists.push_back(asm_named(found[part], operands));
  return asm_call("plugrad_mma<plugrad_" + element + ", " + found[1].str() + ", " + found[2].str() + ">", lists);
}

// Returns CUDA C without asm statements.
std::string without_asm(const std::string &source) {
  static const std::regex word("\\basm\\b\\s*(volatile)?");
  std::string out;
  size_t done = 0;
  for (std::sregex_iterator each(source.begin(), source.end(), word), end; each != end; each++) {
    AsmReader reader{source, (size_t)(each->position() + each->length())};
    reader.expect("(");
    std::string text = reader.string();
    std::vector<AsmOperand> operands = asm_operands(reader);
    reader.expect(")");
    reader.expect(";");
    out += source.substr(done, each->position() - done) + asm_as_call(text, operands);
    done = reader.at;
  }
  return out + source.substr(done);
}

}  // namespace
