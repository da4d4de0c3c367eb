"""What is learned from models and kernels by comparing them: tables that figures are drawn from."""
